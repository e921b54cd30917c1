import Dispatch
import Glibc
import ServiceKit

/// The datagram socket on which a child tells that it is ready: the receiving side of sd_notify(3).
struct NotifySocket {
    /// For the child's `NOTIFY_SOCKET`: a name in Linux's abstract namespace, which leaves no file behind.
    let name: String

    private let source: any DispatchSourceRead

    /// - Parameter onReady: Called each time that a child says `READY=1`.
    init(for child: String, onReady: @escaping @Sendable () -> Void) throws {
        name = "@msi-\(child)-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0, var address = sockaddr_un(path: name) else {
            throw StartFailure(description: "no notification socket: \(String(cString: strerror(errno)))")
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0
            }
        }
        guard isBound else {
            Glibc.close(descriptor)
            throw StartFailure(description: "no notification socket: \(String(cString: strerror(errno)))")
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        source.setEventHandler { Self.receive(from: descriptor, onReady) }
        source.setCancelHandler { Glibc.close(descriptor) }
        source.activate()
    }

    func close() {
        source.cancel()
    }

    private static func receive(from descriptor: Int32, _ onReady: () -> Void) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count >= 0 {
            let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
            if lines.contains("READY=1") { onReady() }
        }
    }
}
