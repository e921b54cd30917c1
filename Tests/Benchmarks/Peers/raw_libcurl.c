// The relay's sends to FCM with libcurl alone: POSTs over a few HTTP/2 connections, with the relay's settings, on one thread.
//
//     raw_libcurl URL CA_FILE HEADERS_FILE IN_FLIGHT SENDS RATE BODY_FILE…
//
// HEADERS_FILE has one header on each line. The bodies are sent in turn. With a RATE of 0 the program sends as fast as
// IN_FLIGHT allows. It prints the number of sends and the duration in seconds, without the first IN_FLIGHT sends, which open the
// connections. Otherwise it sends RATE requests a second. It prints the 50th and the 99th percentile of the time from a send's
// due time to its answer, in milliseconds.
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct transfer {
    CURL *easy;
    char answer[256];
    size_t length;
    double due;
    CURLcode result;
};

struct body {
    char *bytes;
    long length;
};

static CURLM *multi;
static struct body *bodies;
static int body_count;
static long started, finished, sends;
static double rate, start;
static float *latencies;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "raw_libcurl: %s: %s\n", what, detail);
    exit(1);
}

static struct body contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail(path, strerror(errno));
    struct body body = {NULL, ftell(file)};
    body.bytes = malloc(body.length + 1);
    rewind(file);
    if (!body.bytes || fread(body.bytes, 1, body.length, file) != (size_t)body.length) fail(path, "cannot be read");
    body.bytes[body.length] = 0;
    fclose(file);
    return body;
}

static struct curl_slist *headers(const char *path) {
    struct curl_slist *list = NULL;
    char *rest = contents(path).bytes;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) list = curl_slist_append(list, line);
    return list;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t length = size * count;
    if (transfer->length + length >= sizeof transfer->answer) return 0;
    memcpy(transfer->answer + transfer->length, bytes, length);
    transfer->length += length;
    return length;
}

static void begin(struct transfer *transfer) {
    struct body *body = &bodies[started % body_count];
    transfer->length = 0;
    transfer->due = rate > 0 ? start + started / rate : 0;
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->length);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, body->bytes);
    curl_multi_add_handle(multi, transfer->easy);
    started++;
}

static void end(struct transfer *transfer) {
    long status = 0;
    if (transfer->result != CURLE_OK) fail("no answer", curl_easy_strerror(transfer->result));
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    transfer->answer[transfer->length] = 0;
    if (status != 200 || strncmp(transfer->answer, "{\"name\":", 8)) fail("not accepted", transfer->answer);
    curl_multi_remove_handle(multi, transfer->easy);
    latencies[finished++] = rate > 0 ? (now() - transfer->due) * 1e3 : 0;
}

static int ascending(const void *one, const void *other) {
    float difference = *(const float *)one - *(const float *)other;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    if (argc < 8) return 2;
    int in_flight = atoi(argv[4]), idle_count = 0;
    sends = atol(argv[5]);
    rate = atof(argv[6]);
    body_count = argc - 7;
    bodies = calloc(body_count, sizeof *bodies);
    for (int index = 0; index < body_count; index++) bodies[index] = contents(argv[7 + index]);
    latencies = calloc(sends, sizeof *latencies);
    struct curl_slist *list = headers(argv[3]);
    struct transfer *transfers = calloc(in_flight, sizeof *transfers), **idle = calloc(in_flight, sizeof *idle),
                    **done = calloc(in_flight, sizeof *done);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 10L);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100L);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 11L);
    CURLU *url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, argv[1], 0)) fail(argv[1], "is no URL");
    for (int index = 0; index < in_flight; index++) {
        CURL *easy = transfers[index].easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_CURLU, url);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_CAINFO, argv[2]);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 4096L);
        curl_easy_setopt(easy, CURLOPT_USERAGENT, "msi-fcm-relay");
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfers[index]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfers[index]);
        idle[idle_count++] = &transfers[index];
    }

    long begun = 0;
    double begin_time = 0;
    start = now();
    while (finished < sends) {
        int running, rest, ended = 0;
        double time = now();
        while (idle_count && started < sends && (rate == 0 || start + started / rate <= time)) begin(idle[--idle_count]);
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &rest));) {
            struct transfer *transfer;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
            transfer->result = message->data.result;
            done[ended++] = transfer;
        }
        // All messages are read first, because removing a handle scans the unread ones.
        for (int index = 0; index < ended; index++) {
            end(done[index]);
            idle[idle_count++] = done[index];
        }
        if (!begun && finished >= in_flight) {
            begun = finished;
            begin_time = now();
        }
        if (!ended) curl_multi_poll(multi, NULL, 0, rate > 0 ? 1 : 50, NULL);
    }
    if (rate > 0) {
        qsort(latencies, sends, sizeof *latencies, ascending);
        printf("%f %f\n", latencies[sends / 2], latencies[sends / 100 * 99]);
    } else {
        printf("%ld %f\n", sends - begun, now() - begin_time);
    }
    return 0;
}
