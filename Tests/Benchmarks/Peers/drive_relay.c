// Drives a relay by its command socket at minimal cost: with libzmq, and one prepared `message.relay` of which
// only the key changes.
//
//     drive_relay ENDPOINT PAYLOAD_FILE IN_FLIGHT COMMANDS RATE
//
// PAYLOAD_FILE contains the command's payload. With a RATE of 0 the program sends as fast as IN_FLIGHT allows. It prints the
// number of sends that FCM accepted, and the duration in seconds. Otherwise it sends RATE commands a second. It prints the 50th
// and the 99th percentile of the time from a command's due time to its reply, in milliseconds. A command that is refused with
// `unavailable`, as after a pause of the relay on a busy machine, is sent again, and standard error says how often. Any other reply that is
// not `ok`, or contains a send that was not accepted, ends it with status 1; so do more refusals than commands.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

static char payload[8192], reply[8192];
static size_t payload_length;
static char *key;
static void *dealer;
static double *due;
static float *latencies;
static long run, commands, sent, answered, accepted, refused;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "drive_relay: %s: %s\n", what, detail);
    exit(1);
}

static void read_payload(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, strerror(errno));
    payload_length = fread(payload, 1, sizeof payload - 1, file);
    fclose(file);
    key = strstr(payload, "\"msi_key\":\"");
    if (!key) fail(path, "there is no msi_key in it");
    key += strlen("\"msi_key\":\"");
}

static void request(long command) {
    long deadline = (long)((now(CLOCK_REALTIME) + 20) * 1e3);
    char header[128], number[25];
    int length = snprintf(header, sizeof header, "{\"id\":\"%lx\",\"command\":\"message.relay\",\"deadline\":%ld}", command, deadline);
    // The keys are new in each run: the relay does not repeat a send of the last minutes.
    snprintf(number, sizeof number, "%016lx%08lx", run, command);
    memcpy(key, number, 24);
    if (zmq_send(dealer, header, length, ZMQ_SNDMORE) < 0 || zmq_send(dealer, payload, payload_length, 0) < 0)
        fail("cannot send", zmq_strerror(errno));
}

// Returns whether there was a reply.
static int take_reply(void) {
    char header[256];
    int length = zmq_recv(dealer, header, sizeof header - 1, ZMQ_DONTWAIT);
    if (length < 0 && errno == EAGAIN) return 0;
    if (length < 0 || length >= (int)sizeof header) fail("cannot receive", zmq_strerror(errno));
    header[length] = 0;
    length = zmq_recv(dealer, reply, sizeof reply - 1, 0);
    if (length < 0 || length >= (int)sizeof reply) fail("cannot receive", zmq_strerror(errno));
    reply[length] = 0;
    char *id = strstr(header, "\"id\":\"");
    if (id && strstr(header, "\"status\":\"unavailable\"") && refused++ < commands) {
        request(strtol(id + 6, NULL, 16));
        return 1;
    }
    if (!id || !strstr(header, "\"status\":\"ok\"") || strstr(reply, "\"error\":{")) fail(header, reply);
    for (char *place = reply; (place = strstr(place, "\"name\":")); place++) accepted++;
    if (due) latencies[answered] = (now(CLOCK_MONOTONIC) - due[strtol(id + 6, NULL, 16)]) * 1e3;
    answered++;
    return 1;
}

static int ascending(const void *one, const void *other) {
    float difference = *(const float *)one - *(const float *)other;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    read_payload(argv[2]);
    long in_flight = atol(argv[3]);
    commands = atol(argv[4]);
    double rate = atof(argv[5]);
    if (rate > 0) {
        due = calloc(commands, sizeof *due);
        latencies = calloc(commands, sizeof *latencies);
    }
    int none = 0, silence = 30000;
    void *context = zmq_ctx_new();
    dealer = zmq_socket(context, ZMQ_DEALER);
    zmq_setsockopt(dealer, ZMQ_SNDHWM, &none, sizeof none);
    zmq_setsockopt(dealer, ZMQ_RCVHWM, &none, sizeof none);
    zmq_setsockopt(dealer, ZMQ_LINGER, &none, sizeof none);
    if (zmq_connect(dealer, argv[1])) fail(argv[1], zmq_strerror(errno));

    zmq_pollitem_t item = {.socket = dealer, .events = ZMQ_POLLIN};
    double start = now(CLOCK_MONOTONIC), last = start;
    run = (long)(now(CLOCK_REALTIME) * 1e6);
    while (answered < commands) {
        double time = now(CLOCK_MONOTONIC);
        while (sent < commands && sent - answered < in_flight && (rate == 0 || start + sent / rate <= time)) {
            if (due) due[sent] = start + sent / rate;
            request(sent++);
        }
        zmq_poll(&item, 1, rate > 0 ? 1 : 100);
        while (take_reply()) last = time;
        if ((time - last) * 1e3 > silence) fail(argv[1], "no reply for half a minute");
    }
    double seconds = now(CLOCK_MONOTONIC) - start;
    if (refused) fprintf(stderr, "drive_relay: %ld commands were refused for a while\n", refused);
    if (rate > 0) {
        qsort(latencies, commands, sizeof *latencies, ascending);
        printf("%f %f\n", latencies[commands / 2], latencies[commands / 100 * 99]);
    } else {
        printf("%ld %f\n", accepted, seconds);
    }
    zmq_close(dealer);
    zmq_ctx_term(context);
    return 0;
}
