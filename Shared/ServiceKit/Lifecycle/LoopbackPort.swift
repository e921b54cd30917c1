import Glibc
package import SystemPackage

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
