import DedicatedThread

#if canImport(Glibc)
    import Glibc
#endif

/// Resolves host names on separate threads.
///
/// The system's resolver may take many seconds. ZeroMQ would call it on its only I/O thread and block every
/// connection of the process.
enum NameLookup {
    /// Why a name has no usable address, in words for the operator.
    struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        let description: String
    }

    typealias Outcome = Result<String, Failure>

    /// Resolves a name to an IPv4 address.
    ///
    /// - Parameter completion: Gets a loopback address, on the resolving thread.
    static func start(_ name: String, completion: @escaping @Sendable (Outcome) -> Void) {
        do {
            try DedicatedThread.start { completion(lookUp(name)) }
        } catch {
            completion(.failure(Failure(description: "\(name) cannot be looked up: \(error)")))
        }
    }

    private static func lookUp(_ name: String) -> Outcome {
        var hints = addrinfo()
        // ZeroMQ's default.
        hints.ai_family = AF_INET
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0, let list else {
            return .failure(Failure(description: "\(name) cannot be looked up: \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list, next: { $0.pointee.ai_next }).compactMap(address)
        guard let first = addresses.first else { return .failure(Failure(description: "\(name) has no IPv4 address")) }
        if let foreign = addresses.first(where: { Endpoint.isLoopback($0) != true }) {
            return .failure(
                Failure(
                    description: "\(name) has the address \(foreign), and only loopback addresses such as 127.0.0.1 are allowed, "
                        + "because the bus neither encrypts nor authenticates"))
        }
        return .success(first)
    }

    private static func address(_ info: UnsafeMutablePointer<addrinfo>) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
            let code = getnameinfo(
                info.pointee.ai_addr, info.pointee.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            return code == 0 ? text.baseAddress.map { String(cString: $0) } : nil
        }
    }
}
