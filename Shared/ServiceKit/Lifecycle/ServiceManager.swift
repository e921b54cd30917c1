import FoundationEssentials
import Glibc

/// The manager that started this process: systemd or `msi up`. It listens on the datagram socket `NOTIFY_SOCKET` (sd_notify(3)).
enum ServiceManager {
    /// The time of the clock that the manager compares (`MONOTONIC_USEC` in sd_notify(3)).
    static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Sends one notification, such as `READY=1`. Has no effect without a manager, or if the manager has ended.
    static func notify(_ state: String) {
        guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], var address = sockaddr_un(path: path) else {
            return
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
                _ = sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), socketAddress, length)
            }
        }
    }
}

extension sockaddr_un {
    /// The address of a Unix socket; a leading `@` means Linux's abstract namespace. `nil` if the path is too long.
    package init?(path: String) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: sun_path) else { return nil }
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: bytes) }
    }
}
