import Glibc
import ServiceKit
import Testing

/// The service manager's side of `sd_notify`: a datagram socket in the file system.
final class NotificationSocket {
    let path: String
    private let descriptor: Int32

    init(at path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = try #require(sockaddr_un(path: path))
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
    }

    deinit { close(descriptor) }

    /// The notifications that have arrived since the last call.
    func receiveAll() -> [String] {
        var texts: [String] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            texts.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return texts
    }
}
