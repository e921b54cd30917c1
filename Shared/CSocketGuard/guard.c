// Limits the peers of a ZeroMQ socket where ZeroMQ itself has no limit:
//
// - ZeroMQ accepts any number of connections, and aborts the process if accept4(2) finds no free descriptor.
// - ZeroMQ collects the frames of a message until the last one. ZMQ_MAXMSGSIZE limits one frame, but neither the number of frames
//   nor their total size. The socket's owner sees a message only when it is complete.
// - A client may choose its identity (ZMQ_ROUTING_ID), and a ROUTER loses requests of a second one that has the same.
//
// So this file interposes three system calls. A function that an executable defines replaces the one with the same name in a
// shared library (ld.so(8)), here in libc. For descriptors that are not guarded, each function does the same as libc's.
//
// - accept4: refuses a connection above the limit, and one without a free descriptor.
// - recv: parses the frames (ZMTP 3, https://rfc.zeromq.org/spec/23/) and reports the end of a connection that exceeds a limit.
//   That costs a few instructions for each frame and no system call. It also hides the identity that a client has chosen, so that
//   ZeroMQ gives each connection another one.
// - close: forgets the descriptor.
//
// ZeroMQ's I/O thread accepts, reads and closes a guarded connection, one call after another. The counts are atomic, because
// other threads read them.

#define _GNU_SOURCE
#include "CSocketGuard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_DESCRIPTORS = 1 << 16,
    GREETING_SIZE = 64,
    // The offset of ZMTP's major version in the greeting.
    VERSION_PLACE = 10,
    FLAG_MORE = 1,
    FLAG_LONG = 2,
    FLAG_COMMAND = 4,
};

struct listener {
    struct msi_guard_limits limits;
    _Atomic uint64_t peers, refused, dropped;
    // Grows when the open connections shall end.
    _Atomic uint64_t generation;
    // The socket itself and its open connections.
    _Atomic uint64_t references;
};

struct guarded {
    struct listener *listener;
    bool is_listener;
    bool is_dropped;
    // The listener's generation when the connection was made.
    uint64_t generation;
    // The progress within the greeting, then within a frame's head, then within its body.
    uint32_t greeting_seen;
    uint8_t head[9];
    uint8_t head_seen;
    uint64_t body_left;
    // Whether a frame has begun, and whether it is the first one, a command: READY, unless the connection is encrypted.
    bool has_frames, is_ready;
    uint8_t identity_seen;
    // Counts of the current message.
    uint32_t frames;
    uint64_t bytes;
    uint64_t messages;
};

static _Atomic(struct guarded *) table[MAX_DESCRIPTORS];

// A spare descriptor. If no other is free, it is closed for a moment, so that a waiting connection can be accepted and closed.
// Otherwise poll would report that connection for ever.
static _Atomic int spare = -1;

static struct guarded *guarded(int descriptor) {
    if (descriptor < 0 || descriptor >= MAX_DESCRIPTORS) return NULL;
    return atomic_load_explicit(&table[descriptor], memory_order_acquire);
}

static void release(struct listener *listener) {
    if (atomic_fetch_sub(&listener->references, 1) == 1) free(listener);
}

static void forget(int descriptor) {
    if (guarded(descriptor) == NULL) return;
    struct guarded *entry = atomic_exchange(&table[descriptor], NULL);
    if (entry == NULL) return;
    if (!entry->is_listener) atomic_fetch_sub(&entry->listener->peers, 1);
    release(entry->listener);
    free(entry);
}

static int real_close(int descriptor) {
    static _Atomic(int (*)(int)) next;
    int (*function)(int) = atomic_load_explicit(&next, memory_order_relaxed);
    if (function == NULL) atomic_store(&next, function = (int (*)(int))dlsym(RTLD_NEXT, "close"));
    return function(descriptor);
}

static int real_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    typedef int accept_function(int, struct sockaddr *, socklen_t *, int);
    static _Atomic(accept_function *) next;
    accept_function *function = atomic_load_explicit(&next, memory_order_relaxed);
    if (function == NULL) atomic_store(&next, function = (accept_function *)dlsym(RTLD_NEXT, "accept4"));
    return function(descriptor, address, length, flags);
}

static ssize_t real_recv(int descriptor, void *bytes, size_t size, int flags) {
    typedef ssize_t recv_function(int, void *, size_t, int);
    static _Atomic(recv_function *) next;
    recv_function *function = atomic_load_explicit(&next, memory_order_relaxed);
    if (function == NULL) atomic_store(&next, function = (recv_function *)dlsym(RTLD_NEXT, "recv"));
    return function(descriptor, bytes, size, flags);
}

// MARK: Connections

static void take_spare(void) {
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int none = -1;
    if (descriptor >= 0 && !atomic_compare_exchange_strong(&spare, &none, descriptor)) real_close(descriptor);
}

int msi_guard_listener(int descriptor, const struct msi_guard_limits *limits) {
    if (descriptor < 0 || descriptor >= MAX_DESCRIPTORS) return -1;
    struct listener *listener = calloc(1, sizeof *listener);
    struct guarded *entry = calloc(1, sizeof *entry);
    if (listener == NULL || entry == NULL) {
        free(listener);
        free(entry);
        return -1;
    }
    listener->limits = *limits;
    listener->references = 1;
    entry->listener = listener;
    entry->is_listener = true;
    take_spare();
    atomic_store_explicit(&table[descriptor], entry, memory_order_release);
    return 0;
}

void msi_guard_end_connections(int descriptor) {
    struct guarded *entry = guarded(descriptor);
    if (entry != NULL && entry->is_listener) atomic_fetch_add(&entry->listener->generation, 1);
}

struct msi_guard_counts msi_guard_counts(int descriptor) {
    struct msi_guard_counts counts = {0, 0, 0};
    struct guarded *entry = guarded(descriptor);
    if (entry != NULL && entry->is_listener) {
        counts.peers = entry->listener->peers;
        counts.refused = entry->listener->refused;
        counts.dropped = entry->listener->dropped;
    }
    return counts;
}

// ZeroMQ must not abort because of one connection: it gets EAGAIN.
static int none_to_accept(struct listener *listener) {
    atomic_fetch_add(&listener->refused, 1);
    errno = EAGAIN;
    return -1;
}

static int refuse_without_descriptors(int descriptor, struct listener *listener) {
    int given_up = atomic_exchange(&spare, -1);
    if (given_up >= 0) {
        real_close(given_up);
        int peer = real_accept4(descriptor, NULL, NULL, SOCK_CLOEXEC);
        if (peer >= 0) real_close(peer);
        take_spare();
    }
    return none_to_accept(listener);
}

int accept4(int descriptor, __SOCKADDR_ARG address, socklen_t *restrict length, int flags) {
    struct guarded *entry = guarded(descriptor);
    int peer = real_accept4(descriptor, address.__sockaddr__, length, flags);
    if (entry == NULL || !entry->is_listener) return peer;
    struct listener *listener = entry->listener;
    if (peer < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED) return peer;
        return refuse_without_descriptors(descriptor, listener);
    }
    struct guarded *connection = calloc(1, sizeof *connection);
    if (connection == NULL || peer >= MAX_DESCRIPTORS
        || atomic_load(&listener->peers) >= listener->limits.max_peers) {
        free(connection);
        real_close(peer);
        return none_to_accept(listener);
    }
    connection->listener = listener;
    connection->generation = atomic_load(&listener->generation);
    atomic_fetch_add(&listener->peers, 1);
    atomic_fetch_add(&listener->references, 1);
    atomic_store_explicit(&table[peer], connection, memory_order_release);
    return peer;
}

int close(int descriptor) {
    forget(descriptor);
    return real_close(descriptor);
}

// MARK: Frames

static uint64_t body_size(const uint8_t *head) {
    if ((head[0] & FLAG_LONG) == 0) return head[1];
    uint64_t size = 0;
    for (int place = 1; place < 9; place++) size = size << 8 | head[place];
    return size;
}

// The name of the property with the identity, after its length.
static const char identity[] = "\x08Identity";

// Gives the property of that name another one, which ZeroMQ does not know.
static void hide_identity(struct guarded *peer, uint8_t *bytes, size_t size) {
    for (size_t place = 0; place < size; place++) {
        if (bytes[place] != identity[peer->identity_seen]) {
            peer->identity_seen = bytes[place] == identity[0];
        } else if (++peer->identity_seen == sizeof identity - 1) {
            bytes[place] = 'x';
            peer->identity_seen = 0;
        }
    }
}

// Counts a frame whose head is complete. Returns whether it is within the limits.
static bool count_frame(struct guarded *peer) {
    const struct msi_guard_limits *limits = &peer->listener->limits;
    uint64_t size = peer->body_left = body_size(peer->head);
    peer->head_seen = 0;
    peer->is_ready = !peer->has_frames && (peer->head[0] & FLAG_COMMAND);
    peer->has_frames = true;
    // A command frame, such as a heartbeat, is not part of a message.
    if (peer->head[0] & FLAG_COMMAND) return size <= limits->max_message_bytes;
    if (size > limits->max_message_bytes - peer->bytes || peer->frames >= limits->max_frames) return false;
    if (peer->head[0] & FLAG_MORE) {
        peer->bytes += size;
        peer->frames++;
        return true;
    }
    peer->bytes = 0;
    peer->frames = 0;
    peer->messages++;
    return limits->max_messages == 0 || peer->messages <= limits->max_messages;
}

// Returns whether a peer's bytes are within the limits. Once they are not, later bytes are not inspected.
static bool inspect(struct guarded *peer, uint8_t *bytes, size_t size) {
    size_t place = 0;
    while (place < size) {
        if (peer->greeting_seen < GREETING_SIZE) {
            // Earlier versions have other frames. Versions before 2 have no signature; its first and last bytes are checked.
            if (peer->greeting_seen == 0 && bytes[place] != 0xFF) return false;
            if (peer->greeting_seen == VERSION_PLACE - 1 && !(bytes[place] & 1)) return false;
            if (peer->greeting_seen == VERSION_PLACE && bytes[place] < 3) return false;
            peer->greeting_seen++;
            place++;
        } else if (peer->body_left > 0) {
            uint64_t step = peer->body_left < size - place ? peer->body_left : size - place;
            if (peer->is_ready) hide_identity(peer, bytes + place, step);
            peer->body_left -= step;
            place += step;
        } else {
            peer->head[peer->head_seen++] = bytes[place++];
            size_t head_size = peer->head[0] & FLAG_LONG ? 9 : 2;
            if (peer->head_seen == head_size && !count_frame(peer)) return false;
        }
    }
    return true;
}

ssize_t recv(int descriptor, void *bytes, size_t size, int flags) {
    ssize_t count = real_recv(descriptor, bytes, size, flags);
    struct guarded *peer = guarded(descriptor);
    if (count <= 0 || peer == NULL || peer->is_listener) return count;
    // ZeroMQ takes 0 for the end of the connection.
    if (peer->generation != atomic_load_explicit(&peer->listener->generation, memory_order_relaxed)) return 0;
    if (!peer->is_dropped && inspect(peer, bytes, count)) return count;
    if (!peer->is_dropped) atomic_fetch_add(&peer->listener->dropped, 1);
    peer->is_dropped = true;
    return 0;
}
