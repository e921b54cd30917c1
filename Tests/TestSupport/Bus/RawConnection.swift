import FoundationEssentials
import Glibc

/// A raw connection to a socket of the bus, for arbitrary bytes.
package final class RawConnection: Sendable {
    private let descriptor: Int32

    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Connects to a Unix socket without sending anything.
    package convenience init(to path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        try self.init(AF_UNIX, address, path)
    }

    /// Connects to a TCP port of 127.0.0.1 without sending anything.
    package convenience init(toPort port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        try self.init(AF_INET, address, "port \(port)")
    }

    private init<Address>(_ family: Int32, _ address: Address, _ name: String) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(description: "no socket: \(String(cString: strerror(errno)))") }
        let connected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failed(description: "\(name): \(reason)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends what the connection takes at once.
    package func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
    }

    /// Whether the other side has closed the connection.
    package var isOver: Bool {
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return count == 0 || errno != EAGAIN }
        }
    }
}
