import Base

#if canImport(Glibc)
    import Glibc
#endif

/// Resolves host names on separate threads.
///
/// The system's resolver may take many seconds. ZeroMQ would call it on its only I/O thread and block every
/// connection of the process.
enum NameLookup {
    /// The addresses of a name, at least one.
    typealias Outcome = Result<[String], ConnectionProblem>

    /// Resolves a name to its IPv4 addresses, or to its IPv6 addresses in brackets if it has no others.
    ///
    /// - Parameters:
    ///   - onlyLoopback: Whether an address of another interface is a failure.
    ///   - completion: Called on the resolving thread.
    static func start(_ name: String, onlyLoopback: Bool, completion: @escaping @Sendable (Outcome) -> Void) {
        do {
            try DedicatedThread.start { completion(lookUp(name, onlyLoopback: onlyLoopback)) }
        } catch {
            completion(.failure(.lookup("\(name) cannot be looked up: \(error)")))
        }
    }

    private static func lookUp(_ name: String, onlyLoopback: Bool) -> Outcome {
        switch addresses(of: name) {
        case .failure(let problem): return .failure(problem)
        case .success(let addresses):
            if onlyLoopback, let foreign = addresses.first(where: { Endpoint.isLoopback($0) != true }) {
                return .failure(.lookup(refusal(of: name, foreign)))
            }
            let version4 = addresses.filter { !$0.contains(":") }
            return .success(version4.isEmpty ? addresses.map { "[\($0)]" } : version4)
        }
    }

    /// Why a client without keys refuses a name: it has an address of another machine, or the lookup took too long. `nil` if the
    /// client may connect, or if the name has no address now.
    ///
    /// - Parameter lookUp: Finds all addresses of a name. It may block.
    static func refusalWithoutKeys(
        of name: String, within timeout: Duration, lookUp: @escaping @Sendable (String) -> Outcome = addresses
    ) async -> String? {
        // The first answer counts. A lookup cannot be ended, so its thread may outlast this call.
        let (answers, answer) = AsyncStream<String?>.makeStream()
        do {
            try DedicatedThread.start {
                let found = (try? lookUp(name).get()) ?? []
                answer.yield(found.first { Endpoint.isLoopback($0) != true }.map { refusal(of: name, $0) })
            }
        } catch {
            return "\(name) cannot be looked up: \(error)"
        }
        let timer = Task {
            try await Task.sleep(for: timeout)
            answer.yield("\(name) cannot be looked up: the system's resolver has not answered for \(timeout)")
        }
        defer { timer.cancel() }
        return await answers.first { _ in true } ?? nil
    }

    private static func refusal(of name: String, _ address: String) -> String {
        "\(name) has the address \(address), which is no loopback address, and \(BusSecurity.whatIsMissing)"
    }

    /// Looks up a host name: all its addresses, at least one, IPv6 ones without brackets.
    private static func addresses(of name: String) -> Outcome {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0, let list else {
            return .failure(.lookup("\(name) cannot be looked up: \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list, next: { $0.pointee.ai_next }).compactMap(address)
        return addresses.isEmpty ? .failure(.lookup("\(name) has no address")) : .success(addresses)
    }

    private static func address(_ info: UnsafeMutablePointer<addrinfo>) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
            let code = getnameinfo(
                info.pointee.ai_addr, info.pointee.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            return code == 0 ? text.baseAddress.map { String(cString: $0) } : nil
        }
    }
}
