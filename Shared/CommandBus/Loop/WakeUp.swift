import CZeroMQ

#if canImport(Glibc)
    import Glibc
#endif

/// Wakes up a thread that polls: an eventfd. Several signals before it is cleared count as one.
final class WakeUp: Sendable {
    /// Readable while there is a signal.
    let descriptor: Int32

    /// - Throws: ``BusError`` if the system has no descriptor left.
    init() throws(BusError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else {
            throw BusError(.system, "cannot make an eventfd: \(ZeroMQFault(number: errno))")
        }
    }

    deinit {
        close(descriptor)
    }

    func signal() {
        // This can fail only if the counter is full, and then the thread is awake.
        eventfd_write(descriptor, 1)
    }

    func clear() {
        var count: eventfd_t = 0
        eventfd_read(descriptor, &count)
    }

    /// Waits for a signal, which stays. poll(2) measures the time with the monotonic clock. A wait by libdispatch would last longer
    /// if the system's clock is set back meanwhile.
    ///
    /// - Returns: Whether there is one.
    func wait(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}
