#if canImport(Glibc)
    import Glibc
#endif

/// Lets a thread wait for one event on another thread, for a limited time.
///
/// Unlike ``WakeUp`` it needs no descriptor, so it works even if the process has too many open files. Its limit does not depend on the
/// system clock.
package final class Latch: @unchecked Sendable {
    private struct State {
        var mutex = pthread_mutex_t()
        var condition = pthread_cond_t()
        var isOpen = false
    }

    /// On the heap, because the mutex and the condition must not move. The mutex guards the rest.
    private let state: UnsafeMutablePointer<State>

    package init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        pthread_mutex_init(&state.pointee.mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(&state.pointee.condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(&state.pointee.condition)
        pthread_mutex_destroy(&state.pointee.mutex)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Ends all waits, and every later one.
    package func open() {
        pthread_mutex_lock(&state.pointee.mutex)
        state.pointee.isOpen = true
        pthread_cond_broadcast(&state.pointee.condition)
        pthread_mutex_unlock(&state.pointee.mutex)
    }

    /// Waits until it is open.
    ///
    /// - Returns: Whether it is.
    package func wait(for limit: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = limit.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(&state.pointee.mutex)
        defer { pthread_mutex_unlock(&state.pointee.mutex) }
        while !state.pointee.isOpen {
            guard pthread_cond_timedwait(&state.pointee.condition, &state.pointee.mutex, &end) == 0 else { break }
        }
        return state.pointee.isOpen
    }
}
