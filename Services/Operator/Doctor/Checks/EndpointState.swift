import CommandBus
import DedicatedThread
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

    /// Connects and leaves again.
    ///
    /// - Parameter timeout: For TCP.
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
        // A blocking connection would wait without end for a process that is stopped, once its queue is full.
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
            // Such as a full queue of connections: a process listens.
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
