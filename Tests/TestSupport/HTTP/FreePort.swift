import Glibc

/// A port for a process that is restarted: each start needs the same one.
package enum FreePort {
    package struct NoneFound: Error {}

    /// Below the system's ephemeral ports: while the process is stopped, a connecting client must not get its port
    /// as the local port. Below those that `msi up` chooses, too.
    private static let range = 11_000..<15_000

    /// No other process of the tests chooses the same port before this process has ended.
    ///
    /// - Throws: ``NoneFound``.
    package static func choose() throws -> Int {
        for _ in 0..<1_000 {
            let port = Int.random(in: range)
            guard let reservation = reserve(port) else { continue }
            if isFree(port) { return port }
            close(reservation)
        }
        throw NoneFound()
    }

    /// Reserves a port among the processes of the tests, as `reserve` of `Tests/Python` does: by a socket with an abstract name, which
    /// the system releases when it is closed (unix(7)).
    ///
    /// - Returns: The socket's descriptor; `nil` if the port is reserved already.
    private static func reserve(_ port: Int) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let name: [UInt8] = [0] + Array("msi-test-port-\(port)".utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let isReserved = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        guard isReserved else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
