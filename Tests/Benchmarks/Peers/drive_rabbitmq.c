// Drives RabbitMQ at minimal cost: publishes to a durable quorum queue and consumes from it, with one thread for each.
//
//     drive_rabbitmq PORT CONNECTIONS IN_FLIGHT SECONDS BODY_FILE
//
// Messages are persistent, and have the bytes of BODY_FILE. RabbitMQ confirms each. The publisher's connections together have
// IN_FLIGHT messages that are not confirmed yet. The consumer has another connection, gets up to 256 messages ahead, and
// acknowledges each. After SECONDS no message is published. The program ends when all are confirmed and consumed. A message that
// RabbitMQ refuses, or half a minute without progress, ends it with status 1.
//
// It prints the number of messages, the seconds until the last confirmation, the seconds until the last message was consumed, and
// the median and the 99th percentile of the milliseconds from a message to its confirmation.
#define _GNU_SOURCE
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PREFETCH = 256, SILENCE = 30, MAX_CONNECTIONS = 256, MAX_IN_FLIGHT = 1024 };

struct publisher {
    amqp_connection_state_t connection;
    // Delivery tags start with 1. `sent` has the time of each message that is not confirmed, at its tag's place.
    uint64_t last, lowest;
    long sent[MAX_IN_FLIGHT];
    int in_flight;
};

static const amqp_bytes_t queue = {5, "queue"};
static amqp_bytes_t body;
static int port;
static long started, consumed_at, deadline;
static atomic_long consumed;
static long published, confirmed, *times, time_capacity;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

_Noreturn static void fail(const char *what, const char *detail) {
    fprintf(stderr, "drive_rabbitmq: %s: %s\n", what, detail);
    exit(1);
}

static void check(const char *what, int status) {
    if (status != AMQP_STATUS_OK) fail(what, amqp_error_string2(status));
}

static void check_reply(const char *what, amqp_connection_state_t connection) {
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection);
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) fail(what, amqp_error_string2(reply.library_error));
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail(what, "refused");
}

static amqp_connection_state_t open_connection(void) {
    amqp_connection_state_t connection = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(connection);
    if (!socket) fail("no socket", "out of memory");
    check("no connection", amqp_socket_open(socket, "127.0.0.1", port));
    amqp_rpc_reply_t reply = amqp_login(connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail("no login", "refused");
    amqp_channel_open(connection, 1);
    check_reply("no channel", connection);
    return connection;
}

static void declare_queue(amqp_connection_state_t connection) {
    amqp_table_entry_t type = {
        .key = amqp_cstring_bytes("x-queue-type"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes("quorum")}};
    amqp_table_t arguments = {1, &type};
    amqp_queue_declare(connection, 1, queue, 0, 1, 0, 0, arguments);
    check_reply("no queue", connection);
}

static void *consume(void *unused) {
    (void)unused;
    amqp_connection_state_t connection = open_connection();
    amqp_basic_qos(connection, 1, 0, PREFETCH, 0);
    check_reply("no prefetch", connection);
    amqp_basic_consume(connection, 1, queue, amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check_reply("no consumer", connection);
    for (;;) {
        amqp_envelope_t envelope;
        amqp_maybe_release_buffers(connection);
        amqp_rpc_reply_t reply = amqp_consume_message(connection, &envelope, NULL, 0);
        if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail("the consumer", "gets no message");
        if (envelope.message.body.len != body.len) fail("the consumer", "gets another message");
        check("no acknowledgement", amqp_basic_ack(connection, 1, envelope.delivery_tag, 0));
        amqp_destroy_envelope(&envelope);
        consumed_at = now();
        atomic_fetch_add(&consumed, 1);
    }
}

static void publish(struct publisher *publisher) {
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = AMQP_DELIVERY_PERSISTENT};
    publisher->sent[++publisher->last % MAX_IN_FLIGHT] = now();
    check("cannot publish", amqp_basic_publish(publisher->connection, 1, amqp_empty_bytes, queue, 0, 0, &properties, body));
    publisher->in_flight++;
    published++;
}

static void note(struct publisher *publisher, uint64_t tag) {
    long *sent = &publisher->sent[tag % MAX_IN_FLIGHT];
    if (!*sent) return;
    if (confirmed == time_capacity) times = realloc(times, (time_capacity = time_capacity * 2 + 1024) * sizeof *times);
    if (!times) fail("no memory", "for the times");
    times[confirmed++] = now() - *sent;
    *sent = 0;
    publisher->in_flight--;
}

// Reads what has arrived.
static void read_confirmations(struct publisher *publisher) {
    struct timeval at_once = {0, 0};
    amqp_frame_t frame;
    amqp_maybe_release_buffers(publisher->connection);
    for (;;) {
        int status = amqp_simple_wait_frame_noblock(publisher->connection, &frame, &at_once);
        if (status == AMQP_STATUS_TIMEOUT) return;
        check("no confirmation", status);
        if (frame.frame_type != AMQP_FRAME_METHOD) continue;
        if (frame.payload.method.id != AMQP_BASIC_ACK_METHOD) fail("RabbitMQ", amqp_method_name(frame.payload.method.id));
        amqp_basic_ack_t *ack = frame.payload.method.decoded;
        if (ack->multiple)
            while (publisher->lowest < ack->delivery_tag) note(publisher, publisher->lowest++);
        note(publisher, ack->delivery_tag);
    }
}

static int compare(const void *left, const void *right) {
    long difference = *(const long *)left - *(const long *)right;
    return (difference > 0) - (difference < 0);
}

static void read_body(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, "cannot be opened");
    body.bytes = malloc(65536);
    if (!body.bytes) fail("no memory", "for the message");
    body.len = fread(body.bytes, 1, 65536, file);
    fclose(file);
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    port = atoi(argv[1]);
    int connections = atoi(argv[2]), in_flight = atoi(argv[3]);
    if (connections < 1 || connections > MAX_CONNECTIONS || in_flight < connections || in_flight / connections >= MAX_IN_FLIGHT)
        return 2;
    read_body(argv[5]);
    struct publisher *publishers = calloc(connections, sizeof *publishers);
    struct pollfd polled[MAX_CONNECTIONS];
    for (int index = 0; index < connections; index++) {
        struct publisher *publisher = &publishers[index];
        publisher->connection = open_connection();
        publisher->lowest = 1;
        if (index == 0) declare_queue(publisher->connection);
        amqp_confirm_select(publisher->connection, 1);
        check_reply("no confirmations", publisher->connection);
        polled[index] = (struct pollfd){.fd = amqp_get_sockfd(publisher->connection), .events = POLLIN};
    }
    pthread_t consumer;
    if (pthread_create(&consumer, NULL, consume, NULL)) fail("no thread", "for the consumer");

    started = now();
    deadline = started + (long)(atof(argv[4]) * 1e9);
    for (int number = 0; number < in_flight; number++) publish(&publishers[number % connections]);
    while (confirmed < published) {
        if (poll(polled, connections, SILENCE * 1000) <= 0) fail("no confirmation", "for half a minute");
        for (int index = 0; index < connections; index++) {
            if (!polled[index].revents) continue;
            int before = publishers[index].in_flight;
            read_confirmations(&publishers[index]);
            while (now() < deadline && publishers[index].in_flight < before) publish(&publishers[index]);
        }
    }
    double accepted = (now() - started) / 1e9;
    long progress = now(), count = 0;
    while (count < published) {
        long before = count;
        count = atomic_load(&consumed);
        if (count > before) progress = now();
        if (now() - progress > SILENCE * 1000000000L) fail("the consumer", "gets no more");
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    qsort(times, confirmed, sizeof *times, compare);
    printf(
        "%ld %f %f %f %f\n", published, accepted, (consumed_at - started) / 1e9, times[confirmed / 2] / 1e6,
        times[confirmed * 99 / 100] / 1e6);
    return 0;
}
