import FoundationEssentials
import Glibc

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

    /// - Parameter descriptor: Of a listening TCP socket. It stays open.
    /// - Throws: ``ConfigurationError`` if it is none.
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
