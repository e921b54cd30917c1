#ifndef MSI_CSOCKETGUARD_H
#define MSI_CSOCKETGUARD_H

#include <stdint.h>

/// What the peers of a listening socket may do.
struct msi_guard_limits {
    /// The most connections at a time.
    uint32_t max_peers;
    /// The most frames of a message.
    uint32_t max_frames;
    /// The most bytes of all frames of a message.
    uint64_t max_message_bytes;
    /// The most messages that one connection may send; 0 is any number.
    uint64_t max_messages;
};

/// What a guarded socket's peers were refused so far.
struct msi_guard_counts {
    uint64_t peers;
    /// Connections that were not accepted: too many, or no descriptor was left.
    uint64_t refused;
    /// Connections that were closed because of what they sent.
    uint64_t dropped;
};

/// Guards a listening socket that ZeroMQ will accept connections from, until it is closed.
///
/// Returns 0, or -1 where the descriptor's number is too large or as many as possible are guarded already.
int msi_guard_listener(int descriptor, const struct msi_guard_limits *limits);

/// What happened at a guarded socket; all 0 where it is none.
struct msi_guard_counts msi_guard_counts(int descriptor);

#endif
