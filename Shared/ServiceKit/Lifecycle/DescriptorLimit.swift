import Glibc

/// The process's limit of open descriptors.
enum DescriptorLimit {
    /// Enough for all connections that the services accept. It also bounds loops that close all possible descriptors.
    private static let maxNeeded: rlim_t = 65_536

    /// Raises the limit as far as the system allows. Debian's default of 1,024 is for programs that use select(2).
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, maxNeeded)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        // If the system refuses, the limit is unchanged, and the bus accepts fewer connections.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
