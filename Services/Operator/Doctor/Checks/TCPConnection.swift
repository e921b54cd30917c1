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
        // A socket can be bound to the machine's own addresses alone. Port 0 lets the system choose one.
        return sequence(first: list, next: { $0.pointee.ai_next }).contains { info in
            let descriptor = socket(info.pointee.ai_family, info.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0
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
