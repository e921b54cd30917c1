import Glibc

/// A port for a process that is restarted: each start needs the same one.
package enum FreePort {
    package struct NoneFound: Error {}

    /// Below the system's ephemeral ports: while the process is stopped, a connecting client must not get its port
    /// as the local port.
    private static let range = 15_000..<32_000

    /// - Throws: ``NoneFound``.
    package static func choose() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: range)
            if isFree(port) { return port }
        }
        throw NoneFound()
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
