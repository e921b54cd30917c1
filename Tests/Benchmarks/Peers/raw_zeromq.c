// The round trips of the command bus by libzmq's own C API: a DEALER with a number of requests in flight in this process, and a
// ROUTER that answers them in a child process.
//
//     raw_zeromq ENDPOINT IN_FLIGHT SECONDS HEADER PAYLOAD REPLY_HEADER REPLY
//
// The last four arguments are the frames of the bus. Every request gets its own id, which its reply returns. Prints the number of
// round trips and the duration in seconds.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { ID_DIGITS = 15 };

typedef struct {
    char *bytes;
    size_t size;
    // The offset of the id's digits.
    size_t id;
} Header;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int succeeded, const char *what) {
    if (succeeded) return;
    fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static Header read_header(char *text) {
    char *id = strstr(text, "\"id\":\"");
    if (!id) {
        fprintf(stderr, "a header without an id: %s\n", text);
        exit(1);
    }
    return (Header){text, strlen(text), id - text + strlen("\"id\":\"")};
}

static void write_id(Header header, long number) {
    for (int position = ID_DIGITS - 1; position >= 0; position--, number >>= 4)
        header.bytes[header.id + position] = "0123456789abcdef"[number & 0xF];
}

static long read_id(Header header, const char *bytes) {
    long number = 0;
    for (int position = 0; position < ID_DIGITS; position++) {
        char digit = bytes[header.id + position];
        number = number << 4 | (digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return number;
}

static void *open_socket(int type) {
    void *context = zmq_ctx_new();
    check(context != NULL, "context");
    void *socket = zmq_socket(context, type);
    check(socket != NULL, "socket");
    int messages = 20000, linger = 0;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &messages, sizeof messages);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &messages, sizeof messages);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    return socket;
}

static void receive(zmq_msg_t *frame, void *socket, size_t expected) {
    check(zmq_msg_recv(frame, socket, 0) >= 0, "receive");
    check(expected == 0 || zmq_msg_size(frame) == expected, "a frame of another size");
}

static void send_frames(void *socket, Header header, const char *payload, size_t size) {
    check(zmq_send(socket, header.bytes, header.size, ZMQ_SNDMORE) >= 0, "send a header");
    check(zmq_send(socket, payload, size, 0) >= 0, "send a payload");
}

static void serve(const char *endpoint, Header header, size_t payload_size, Header reply_header, const char *reply) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *router = open_socket(ZMQ_ROUTER);
    check(zmq_bind(router, endpoint) == 0, "bind");
    size_t reply_size = strlen(reply);
    zmq_msg_t peer, frame;
    zmq_msg_init(&peer);
    zmq_msg_init(&frame);
    for (;;) {
        receive(&peer, router, 0);
        receive(&frame, router, header.size);
        memcpy(reply_header.bytes + reply_header.id, (char *)zmq_msg_data(&frame) + header.id, ID_DIGITS);
        receive(&frame, router, payload_size);
        check(zmq_msg_send(&peer, router, ZMQ_SNDMORE) >= 0, "send a routing id");
        send_frames(router, reply_header, reply, reply_size);
    }
}

int main(int argc, char **argv) {
    if (argc != 8) return 2;
    const char *endpoint = argv[1], *payload = argv[5], *reply = argv[7];
    int in_flight = atoi(argv[2]);
    double seconds = atof(argv[3]);
    Header header = read_header(argv[4]), reply_header = read_header(argv[6]);
    size_t payload_size = strlen(payload), reply_size = strlen(reply);
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) serve(endpoint, header, payload_size, reply_header, reply);

    void *dealer = open_socket(ZMQ_DEALER);
    check(zmq_connect(dealer, endpoint) == 0, "connect");
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    long sent = 0, received = 0, sum = 0;
    // The first round trip waits for the connection and is not measured.
    write_id(header, ++sent);
    send_frames(dealer, header, payload, payload_size);
    double start = 0, end = 0;
    do {
        receive(&frame, dealer, reply_header.size);
        sum += read_id(reply_header, zmq_msg_data(&frame));
        receive(&frame, dealer, reply_size);
        if (received++ == 0) start = now();
        while (sent < received + in_flight) {
            write_id(header, ++sent);
            send_frames(dealer, header, payload, payload_size);
        }
        if (received % 64 == 1) end = now();
    } while (end - start < seconds);
    if (sum != received * (received + 1) / 2) {
        fprintf(stderr, "replies to other requests\n");
        return 1;
    }
    printf("%ld %f\n", received - 1, end - start);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
