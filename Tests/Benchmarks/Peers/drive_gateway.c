// Drives a gateway over HTTP/1.1 at minimal cost: with one thread, epoll, and prepared requests.
//
//     drive_gateway PORT CLIENTS SECONDS STATUS ANSWERS_FILE REQUEST_FILE…
//
// Each client keeps one connection open, and sends its next request when the previous one is answered. Each REQUEST_FILE contains
// a whole request. The requests are sent in turn. After SECONDS no client sends another one; each sends at least one. An answer with another status than
// STATUS, or no answer within half a minute, ends the program with status 1.
//
// It writes a line for each answer into ANSWERS_FILE: when the request was sent and when its answer was complete, in nanoseconds
// of CLOCK_MONOTONIC, and the `msi_key` in the answer, or `-`. It prints the number of answers and the duration in seconds.
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
    long sent;
    char answer[16384];
    size_t length;
};

static struct request *requests;
static int request_count, client_count;
static long started, answered, deadline;
static const char *status;
static FILE *answers;

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

// Returns whether there was time left to send one, as for the first one always. A request fits into the socket's buffer, which is empty.
static int send_request(struct client *client) {
    struct request *request = &requests[started % request_count];
    client->sent = now();
    if (started >= client_count && client->sent >= deadline) return 0;
    client->length = 0;
    if (send(client->socket, request->bytes, request->length, MSG_NOSIGNAL) != (ssize_t)request->length)
        fail("cannot send", strerror(errno));
    started++;
    return 1;
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
    fprintf(answers, "%ld %ld %.*s\n", client->sent, now(), key ? 24 : 1, key ? key + 11 : "-");
    answered++;
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 7) return 2;
    int port = atoi(argv[1]), poll = epoll_create1(0), silence = 30000;
    client_count = atoi(argv[2]);
    double seconds = atof(argv[3]);
    status = argv[4];
    answers = fopen(argv[5], "w");
    if (!answers) fail(argv[5], strerror(errno));
    request_count = argc - 6;
    requests = calloc(request_count, sizeof *requests);
    for (int index = 0; index < request_count; index++) requests[index] = contents(argv[6 + index]);
    struct client *clients = calloc(client_count, sizeof *clients);
    for (int index = 0; index < client_count; index++) open_connection(&clients[index], port, poll);

    long start = now();
    deadline = start + (long)(seconds * 1e9);
    int waiting = 0;
    for (int index = 0; index < client_count; index++) waiting += send_request(&clients[index]);
    while (waiting) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, silence);
        if (ready == 0) fail("no answer", "for half a minute");
        for (int index = 0; index < ready; index++) {
            struct client *client = events[index].data.ptr;
            if (receive(client)) waiting -= !send_request(client);
        }
    }
    printf("%ld %f\n", answered, (now() - start) / 1e9);
    return fclose(answers) ? 1 : 0;
}
