import Glibc

/// The file of counters in shared memory that libmongoc makes when it is loaded, whether MongoDB is used or not, for a tool that
/// nobody here runs.
package enum CounterSegment {
    /// Takes its name away: what is mapped already stays. A process that is killed would leave the file behind, and a later one with
    /// the same number would complain about it, before it has a log.
    package static func unlink() {
        // There is none where the system has no shared memory, or libmongoc was told to do without.
        _ = shm_unlink("/mongoc-\(getpid())")
    }
}
