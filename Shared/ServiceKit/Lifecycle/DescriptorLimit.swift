import Glibc

/// How many descriptors the process may have open.
enum DescriptorLimit {
    /// Enough for everything that the services accept; a process that closes all possible descriptors loops over no more.
    private static let maxNeeded: rlim_t = 65_536

    /// Raises the limit as far as the system allows. Debian's 1,024 is for programmes that use select(2).
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, maxNeeded)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        // Where the system refuses, the limit stays as it was, and the bus takes fewer connections.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
