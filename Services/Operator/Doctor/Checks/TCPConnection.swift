import Glibc

/// A connection that is made only to see whether it can be. It blocks.
enum TCPConnection {
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - timeout: For each of its addresses.
    static func state(_ host: String, _ port: UInt16, timeout: Duration) -> EndpointState {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0, let list else { return .unknownName(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var last = EndpointState.silent
        for info in sequence(first: list, next: { $0.pointee.ai_next }) {
            last = state(info.pointee, timeout)
            if last.isListening { break }
        }
        return last
    }

    /// Whether one of a host's addresses is one of this machine's. A host without an address is not.
    static func isThisMachine(_ host: String) -> Bool {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let list else { return false }
        defer { freeaddrinfo(list) }
        var interfaces: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&interfaces) == 0 else { return false }
        defer { freeifaddrs(interfaces) }
        return sequence(first: list, next: { $0.pointee.ai_next }).compactMap { bytes(of: $0.pointee.ai_addr) }.contains {
            address in
            // A connection to 0.0.0.0 or :: is one to this machine.
            address.allSatisfy { $0 == 0 }
                || sequence(first: interfaces, next: { $0?.pointee.ifa_next }).contains { interface in
                    interface.map { has($0.pointee, address) } ?? false
                }
        }
    }

    private static func has(_ interface: ifaddrs, _ address: [UInt8]) -> Bool {
        guard let own = bytes(of: interface.ifa_addr), own.count == address.count else { return false }
        // The loopback interface has all addresses of its network, such as 127.0.1.1, Debian's address of the machine's name.
        guard interface.ifa_flags & UInt32(IFF_LOOPBACK) != 0, let mask = bytes(of: interface.ifa_netmask),
            mask.count == own.count
        else { return own == address }
        return address.indices.allSatisfy { own[$0] & mask[$0] == address[$0] & mask[$0] }
    }

    /// The bytes of an IPv4 or IPv6 address; those of the IPv4 address if it is mapped. `nil` for another family.
    private static func bytes(of address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            let bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
            let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
            return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    private static func state(_ info: addrinfo, _ timeout: Duration) -> EndpointState {
        let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.ai_family, kind, 0)
        guard descriptor >= 0 else { return .unreachable(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard connect(descriptor, info.ai_addr, info.ai_addrlen) != 0 else { return .listening(process: nil) }
        guard errno == EINPROGRESS else { return state(of: errno) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let milliseconds = Int32(timeout / .milliseconds(1))
        guard poll(&entry, 1, milliseconds) > 0 else { return .silent }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        return error == 0 ? .listening(process: nil) : state(of: error)
    }

    private static func state(of error: Int32) -> EndpointState {
        switch error {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .silent
        default: .unreachable(String(cString: strerror(error)))
        }
    }
}
