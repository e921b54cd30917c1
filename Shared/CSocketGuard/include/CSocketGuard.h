#ifndef MSI_CSOCKETGUARD_H
#define MSI_CSOCKETGUARD_H

#include <stdint.h>

/// The limits for the peers of a listening socket.
struct msi_guard_limits {
    /// The maximum number of connections.
    uint32_t max_peers;
    /// The maximum number of frames of a message.
    uint32_t max_frames;
    /// The maximum size of a message, all frames together, in bytes.
    uint64_t max_message_bytes;
    /// The maximum number of messages on one connection; 0 for no limit.
    uint64_t max_messages;
};

/// Counts of a guarded socket's connections.
struct msi_guard_counts {
    uint64_t peers;
    /// Connections that were refused: there were too many, or no descriptor was free.
    uint64_t refused;
    /// Connections that were closed for exceeding a limit.
    uint64_t dropped;
};

/// Guards a listening socket, from which ZeroMQ accepts connections, until it is closed.
///
/// Returns 0, or -1 if the descriptor's number is too large or the memory is exhausted.
int msi_guard_listener(int descriptor, const struct msi_guard_limits *limits);

/// Ends the connections of a guarded socket that are open now, each when the peer next sends something, at the latest its heartbeat.
void msi_guard_end_connections(int descriptor);

/// The counts of a guarded socket; all 0 if the descriptor is not guarded.
struct msi_guard_counts msi_guard_counts(int descriptor);

#endif
