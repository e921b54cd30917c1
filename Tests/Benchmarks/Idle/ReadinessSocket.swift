import Glibc
import ServiceKit

/// The datagram socket of a service manager (sd_notify(3)), which learns when a service is ready.
struct ReadinessSocket {
    let path: String
    private let descriptor: Int32

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: ``Failure``.
    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, var address = sockaddr_un(path: path) else { throw Failure(description: "no socket at \(path)") }
        // Longer than any start takes.
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
    }

    /// Blocks until a service says that it is ready.
    ///
    /// - Parameter log: The service's log, for the error.
    /// - Throws: ``Failure`` if it does not for half a minute.
    func waitForReadiness(log: @autoclosure () -> String) throws {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "a service does not become ready: \(log().suffix(1_000))") }
            if String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").contains("READY=1") { return }
        }
    }

    func close() {
        Glibc.close(descriptor)
        unlink(path)
    }
}
