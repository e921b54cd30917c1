import FoundationEssentials
import Glibc

/// A raw connection to a Unix socket of the bus, for arbitrary bytes.
package final class RawConnection: Sendable {
    private let descriptor: Int32

    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Connects without sending anything.
    package init(to path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        guard descriptor >= 0 else { throw Failed(description: "no socket: \(String(cString: strerror(errno)))") }
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failed(description: "\(path): \(reason)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Performs the ZMTP 3 handshake as a socket of a type such as `DEALER`.
    package func greet(as type: String) throws {
        var greeting: [UInt8] = [0xFF] + Array(repeating: 0, count: 8) + [0x7F, 3, 0] + Array("NULL".utf8)
        greeting += Array(repeating: 0, count: 64 - greeting.count)
        var ready: [UInt8] = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8)
        ready += [0, 0, 0, UInt8(type.utf8.count)] + Array(type.utf8)
        guard send(greeting + [4, UInt8(ready.count)] + ready) else { throw Failed(description: "no greeting") }
        var seen = 0
        var buffer = [UInt8](repeating: 0, count: 64)
        while seen < 64 {
            let count = recv(descriptor, &buffer, 64 - seen, 0)
            guard count > 0 else { throw Failed(description: "no greeting in return") }
            seen += count
        }
    }

    /// Sends a frame with the MORE flag.
    ///
    /// - Returns: Whether the connection still accepts bytes.
    package func sendFrameWithMore(_ size: Int) -> Bool {
        let length = withUnsafeBytes(of: UInt64(size).bigEndian) { Array($0) }
        return send([3] + length + Array(repeating: 0x78, count: size))
    }

    /// - Returns: Whether all bytes were accepted.
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
