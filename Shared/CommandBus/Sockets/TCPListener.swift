#if canImport(Glibc)
    import Glibc
#endif

/// The listening socket of a `tcp://` endpoint. It is lent to ZeroMQ (`ZMQ_USE_FD`), like ``UnixListener``'s.
enum TCPListener {
    /// Opens the listening socket. ZeroMQ closes it.
    ///
    /// - Parameter host: An address or `localhost`.
    static func listen(at host: Endpoint.Host, port: UInt16, of endpoint: Endpoint) throws(BusError) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(try address(of: host, endpoint), String(port), &hints, &list)
        guard code == 0, let list else {
            throw BusError(.invalidEndpoint, "\(endpoint.text): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        let type = list.pointee.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(list.pointee.ai_family, type, 0)
        var yes: Int32 = 1
        guard descriptor >= 0, setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
            bind(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let fault = ZeroMQFault(number: errno)
            if descriptor >= 0 { close(descriptor) }
            if fault.isAddressInUse { throw BusError(.addressInUse, "\(endpoint.text): another process listens there") }
            let problem = fault.number == EADDRNOTAVAIL ? "this machine has no such address" : "cannot listen: \(fault)"
            throw BusError(.system, "\(endpoint.text): \(problem)")
        }
        return descriptor
    }

    private static func address(of host: Endpoint.Host, _ endpoint: Endpoint) throws(BusError) -> String {
        switch host {
        case .name("localhost"): return "127.0.0.1"
        case .name:
            throw BusError(
                .invalidEndpoint,
                "\(endpoint.text): expected an address of this machine to listen at, or 0.0.0.0 for all of them, found a name")
        case .address(let address): return address.hasPrefix("[") ? String(address.dropFirst().dropLast()) : address
        }
    }
}
