import FoundationEssentials
import Glibc
import NIOCore
package import ServiceLifecycle
package import SystemPackage

/// An HTTP server on a port. Its failure names the port, its setting, and what the operator can do.
package struct ListeningService: Service {
    private let server: any Service
    private let scheme: String
    private let host: String
    private let port: Int
    private let setting: SettingDeclaration
    private let hostSetting: SettingDeclaration?

    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - host: The address, as the host of a URL.
    ///   - hostSetting: The setting that the address comes from, if there is one.
    ///   - port: The value of the setting.
    package init(
        _ server: any Service, scheme: String, host: String = "127.0.0.1", hostSetting: SettingDeclaration? = nil, port: Int,
        of setting: Setting<Int>
    ) {
        self.server = server
        self.scheme = scheme
        self.host = host
        self.port = port
        self.setting = setting.declaration
        self.hostSetting = hostSetting
    }

    /// - Throws: ``ListeningFailure``.
    package func run() async throws {
        do {
            try await server.run()
        } catch {
            throw ListeningFailure(description: "\(scheme)://\(host):\(port) cannot be served: \(reason(for: error))")
        }
    }

    /// Explains why the server cannot listen. If the library's error has no `errno`, binding another socket to the port shows whether the
    /// port is the reason.
    private func reason(for error: any Error) -> String {
        let code = (error as? IOError).map { Errno(rawValue: $0.errnoCode) }
        switch code ?? LoopbackPort.obstacle(port) {
        case .addressInUse?:
            return "port \(port) is in use by another program; stop that program, or choose another port with \(setting.name)"
        case .permissionDenied?:
            return "port \(port) needs the rights of root; choose one from 1024 with \(setting.name)"
        case .addressNotAvailable?:
            return "this machine has no address \(host)"
                + (hostSetting.map { "; choose one of its addresses with \($0.name)" } ?? "")
        default: return code.map { String(cString: strerror($0.rawValue)) } ?? "\(error)"
        }
    }
}

/// A server could not listen or had to stop: the address and the reason.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let description: String
}

/// A listening socket that the service manager has opened for this process, so that it can accept connections while the process
/// restarts (`systemd.socket(5)`, `sd_listen_fds(3)`).
package struct PassedSocket: Sendable {
    /// The first passed descriptor, as `sd_listen_fds(3)` defines it.
    private static let firstDescriptor: Int32 = 3

    package let descriptor: Int32
    /// Where it listens.
    package let address: IPAddress
    package let port: Int

    /// - Returns: `nil` if the manager has passed no socket to this process.
    /// - Throws: ``ConfigurationError`` if there are several, or if it is no listening TCP socket.
    package static func ofThisProcess(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> PassedSocket? {
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap(Int.init), count > 0
        else {
            return nil
        }
        guard count == 1 else {
            throw ConfigurationError("LISTEN_FDS: the service manager passes \(count) sockets, one is expected")
        }
        return try PassedSocket(descriptor: firstDescriptor)
    }

    /// - Parameter descriptor: The descriptor of a listening TCP socket. It stays open.
    /// - Throws: ``ConfigurationError`` if it is not a listening TCP socket.
    package init(descriptor: Int32) throws {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isSocket = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard isSocket, getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0,
            let (address, port) = Self.place(storage)
        else {
            throw ConfigurationError("LISTEN_FDS: what the service manager passes is not a TCP socket that listens")
        }
        // Child processes must not inherit it.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        self.address = address
        self.port = port
    }

    private static func place(_ storage: sockaddr_storage) -> (IPAddress, Int)? {
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let four = bytes.load(as: sockaddr_in.self)
                return (IPAddress(ipv4: UInt32(bigEndian: four.sin_addr.s_addr)), Int(UInt16(bigEndian: four.sin_port)))
            case AF_INET6:
                let six = bytes.load(as: sockaddr_in6.self)
                return (IPAddress(ipv6: withUnsafeBytes(of: six.sin6_addr) { Array($0) }), Int(UInt16(bigEndian: six.sin6_port)))
            default: return nil
            }
        }
    }
}

/// TCP ports of 127.0.0.1.
package enum LoopbackPort {
    /// Below the ports that the system gives to connecting clients: until a server has the port, no client can get it.
    private static let belowClients = 15_000..<32_000

    /// Chooses a free port. It is not reserved.
    ///
    /// - Throws: `Errno` if the system has none.
    package static func free() throws(Errno) -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: belowClients)
            if obstacle(port) == nil { return port }
        }
        return try bind(0)
    }

    /// Tries to listen on a port.
    ///
    /// - Returns: Why it is impossible now; `nil` if it is possible.
    package static func obstacle(_ port: Int) -> Errno? {
        do {
            _ = try bind(port)
            return nil
        } catch {
            return error
        }
    }

    /// - Returns: The port, or one that the system chose for 0.
    private static func bind(_ port: Int) throws(Errno) -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        // Like servers: closing connections of an earlier process do not block the port.
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                Glibc.bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else { throw Errno(rawValue: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
