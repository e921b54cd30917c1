import Glibc

/// The shared memory file with counters that libmongoc creates when it is loaded, even if MongoDB is not used. It is for a tool
/// that the product does not use.
package enum CounterSegment {
    /// Removes the file's name; the mapping stays. Otherwise a killed process would leave the file behind, and libmongoc in a
    /// later process with the same id would complain about it.
    package static func unlink() {
        // The file does not exist if the system has no shared memory, or if libmongoc's counters are off.
        _ = shm_unlink("/mongoc-\(getpid())")
    }
}
