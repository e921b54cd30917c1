import Bus
import Base
import FoundationEssentials
import Glibc
import ServiceKit

/// What is at an endpoint of the bus, as far as a connection shows it.
enum EndpointState: Hashable, Sendable {
    /// Something accepts connections: of a Unix socket, the process that listens, if the system tells it.
    case listening(process: Int32?)
    case missing
    /// A process that has ended left the file behind.
    case stale
    /// This user may not use the file, or not enter its folder.
    case forbidden(path: String)
    /// The host name has no address, for this reason.
    case unknownName(String)
    /// The host answers, and nothing listens at the port.
    case refused
    /// Nothing has answered.
    case silent
    /// The host cannot be reached, for this reason.
    case unreachable(String)

    var isListening: Bool {
        if case .listening = self { true } else { false }
    }

    /// Connects and disconnects.
    ///
    /// - Parameter timeout: The timeout of a TCP connection.
    static func look(at endpoint: String, timeout: Duration = .seconds(3)) async -> EndpointState {
        do {
            return try await onThread {
                switch try? Endpoint(endpoint) {
                case .tcp(let host, let port)?: TCPConnection.state(host.text, port, timeout: timeout)
                default: EndpointState(ofFile: String(endpoint.dropFirst("ipc://".count)))
                }
            }
        } catch {
            return .unreachable("\(error)")
        }
    }

    /// The host of an endpoint, if it is not this machine.
    static func otherHost(of endpoint: String) async -> String? {
        guard case .tcp(let host, _)? = try? Endpoint(endpoint) else { return nil }
        let isHere = try? await onThread { TCPConnection.isThisMachine(host.text) }
        return isHere == true ? nil : host.text
    }

    /// A lookup of a name and a connection to another machine block.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            do {
                try DedicatedThread.start { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private init(ofFile path: String) {
        // A pattern that stands for itself has found no instance. Its folder decides.
        if path.contains("*") {
            let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            self = access(folder, R_OK | X_OK) != 0 && errno == EACCES ? .forbidden(path: folder) : .missing
            return
        }
        guard var address = sockaddr_un(path: path) else {
            self = .missing
            return
        }
        // A blocking connection would wait forever for a stopped process whose queue is full.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else {
            self = .missing
            return
        }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        let reason = errno
        if result == 0 {
            self = .listening(process: Self.listener(behind: descriptor))
        } else {
            switch reason {
            case ECONNREFUSED: self = .stale
            case EACCES, EPERM: self = .forbidden(path: path)
            case ENOENT, ENOTDIR: self = .missing
            // For example, the queue of connections is full: a process listens.
            default: self = .listening(process: nil)
            }
        }
    }

    /// The process that listens (`SO_PEERCRED` in unix(7)). `struct ucred`, which Swift does not import, begins with its id.
    private static func listener(behind descriptor: Int32) -> Int32? {
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        return result == 0 && credentials.0 > 0 ? credentials.0 : nil
    }
}

extension Endpoint.Host {
    /// A name or an address. An IPv6 address is without brackets.
    var text: String {
        switch self {
        case .name(let text), .address(let text): text.filter { $0 != "[" && $0 != "]" }
        }
    }
}

/// A connection that only tests whether an address accepts one. It blocks.
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
