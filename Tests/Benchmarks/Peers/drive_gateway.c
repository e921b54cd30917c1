// Drives a gateway over HTTP/1.1 at minimal cost: with one thread, epoll, and prepared requests.
//
//     drive_gateway PORT CLIENTS SECONDS RATE STATUS ANSWERS_FILE REQUEST_FILE…
//
// Each client keeps one connection open, and has at most one request in flight. Each REQUEST_FILE contains a whole request. The
// requests are sent in turn. An answer with another status than STATUS, or no answer within half a minute, ends the program
// with status 1.
//
// With RATE 0 each client sends its next request when the previous one is answered. After SECONDS no client sends another one;
// each sends at least one. Otherwise RATE requests a second are due at equal intervals for SECONDS, whether earlier ones are
// answered or not. A request that is due while all clients wait for answers is sent by the first one that is free.
//
// It writes a line for each answer into ANSWERS_FILE: when the request was sent, or with a RATE when it was due, and when its
// answer was complete, in nanoseconds of CLOCK_MONOTONIC, and the `msi_key` in the answer, or `-`. It prints the number of
// answers and the duration in seconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct request {
    char *bytes;
    size_t length;
};

struct client {
    int socket;
    // When the request in flight was sent, or was due.
    long began;
    char answer[16384];
    size_t length;
};

static struct request *requests;
static int request_count, client_count, idle_count;
// Those without a request in flight.
static struct client **idle;
// `total` is the number of all requests; without a rate they end at `deadline`.
static long started, answered, total, start, deadline;
static double rate;
static const char *status;
static FILE *answers;
// The longest wait for an answer, in nanoseconds.
static const long silence = 30000000000L;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "drive_gateway: %s: %s\n", what, detail);
    exit(1);
}

static struct request contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail(path, strerror(errno));
    struct request request = {NULL, ftell(file)};
    request.bytes = malloc(request.length);
    rewind(file);
    if (!request.bytes || fread(request.bytes, 1, request.length, file) != request.length) fail(path, "cannot be read");
    fclose(file);
    return request;
}

static void open_connection(struct client *client, int port, int poll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    client->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (client->socket < 0 || connect(client->socket, (struct sockaddr *)&address, sizeof address))
        fail("no connection", strerror(errno));
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    epoll_ctl(poll, EPOLL_CTL_ADD, client->socket, &event);
}

// When the next request is due; without a rate at once. -1 if there is none.
static long next_due(void) {
    if (rate > 0) return started < total ? start + (long)(started / rate * 1e9) : -1;
    return started < client_count || now() < deadline ? 0 : -1;
}

// A request fits into the socket's buffer, which is empty.
static void send_request(struct client *client, long due) {
    struct request *request = &requests[started % request_count];
    client->began = due ? due : now();
    client->length = 0;
    if (send(client->socket, request->bytes, request->length, MSG_NOSIGNAL) != (ssize_t)request->length)
        fail("cannot send", strerror(errno));
    started++;
}

// Sends what is due. Returns how long to wait for an answer or for the next due time, in nanoseconds; -1 at the end.
static long send_due_requests(void) {
    long due = next_due();
    while (idle_count && due >= 0 && due <= now()) {
        send_request(idle[--idle_count], due);
        due = next_due();
    }
    if (idle_count && due >= 0) {
        long wait = due - now();
        return wait > 0 ? wait : 0;
    }
    return idle_count == client_count ? -1 : silence;
}

static int is_complete(struct client *client) {
    char *body = strstr(client->answer, "\r\n\r\n"), *length = strcasestr(client->answer, "\r\ncontent-length:");
    if (!body) return 0;
    if (!length || length > body) fail("an answer without a Content-Length", client->answer);
    return client->length == (size_t)(body + 4 - client->answer) + strtoul(length + 17, NULL, 10);
}

// Returns whether the answer is complete.
static int receive(struct client *client) {
    ssize_t count = recv(client->socket, client->answer + client->length, sizeof client->answer - 1 - client->length, 0);
    if (count <= 0) fail("the connection ended", count < 0 ? strerror(errno) : "without an answer");
    client->length += count;
    client->answer[client->length] = 0;
    if (!is_complete(client)) return 0;
    if (strncmp(client->answer, "HTTP/1.1 ", 9) || strncmp(client->answer + 9, status, strlen(status)))
        fail("not the expected status", client->answer);
    char *key = strstr(client->answer, "\"msi_key\":\"");
    fprintf(answers, "%ld %ld %.*s\n", client->began, now(), key ? 24 : 1, key ? key + 11 : "-");
    answered++;
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 8) return 2;
    int port = atoi(argv[1]), poll = epoll_create1(0);
    client_count = atoi(argv[2]);
    double seconds = atof(argv[3]);
    rate = atof(argv[4]);
    total = (long)(rate * seconds) + 1;
    status = argv[5];
    answers = fopen(argv[6], "w");
    if (!answers) fail(argv[6], strerror(errno));
    request_count = argc - 7;
    requests = calloc(request_count, sizeof *requests);
    for (int index = 0; index < request_count; index++) requests[index] = contents(argv[7 + index]);
    struct client *clients = calloc(client_count, sizeof *clients);
    idle = calloc(client_count, sizeof *idle);
    for (; idle_count < client_count; idle_count++) {
        open_connection(&clients[idle_count], port, poll);
        idle[idle_count] = &clients[idle_count];
    }

    start = now();
    deadline = start + (long)(seconds * 1e9);
    long wait;
    while ((wait = send_due_requests()) >= 0) {
        struct epoll_event events[256];
        struct timespec timeout = {wait / 1000000000L, wait % 1000000000L};
        int ready = epoll_pwait2(poll, events, 256, &timeout, NULL);
        if (ready < 0) fail("cannot wait", strerror(errno));
        if (ready == 0 && wait == silence) fail("no answer", "for half a minute");
        for (int index = 0; index < ready; index++) {
            struct client *client = events[index].data.ptr;
            if (receive(client)) idle[idle_count++] = client;
        }
    }
    printf("%ld %f\n", answered, (now() - start) / 1e9);
    return fclose(answers) ? 1 : 0;
}
