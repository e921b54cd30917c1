import FoundationEssentials
import Glibc
import ServiceKit

/// What is at the file of a bus socket.
enum BusSocketState: Hashable, Sendable {
    /// A process listens, or it is no file.
    case listening
    case missing
    /// A process that has ended left it behind.
    case stale
    /// This user may not use the file, or not enter its folder.
    case forbidden(path: String)

    /// Connects to the socket and leaves again.
    ///
    /// - Parameter endpoint: `ipc://<path>`, or one of TCP, which only a request can try.
    init(of endpoint: String) {
        guard endpoint.hasPrefix("ipc://") else {
            self = .listening
            return
        }
        let path = String(endpoint.dropFirst(6))
        // A pattern that stands for itself has found no instance. Its folder decides.
        if path.contains("*") {
            let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            self = access(folder, R_OK | X_OK) != 0 && errno == EACCES ? .forbidden(path: folder) : .missing
            return
        }
        guard var address = sockaddr_un(path: path) else {
            self = .missing
            return
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            self = .missing
            return
        }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        let reason = errno
        if result == 0 {
            self = .listening
        } else {
            switch reason {
            case ECONNREFUSED: self = .stale
            case EACCES, EPERM: self = .forbidden(path: path)
            case ENOENT, ENOTDIR: self = .missing
            // Such as a full queue of connections: a process listens.
            default: self = .listening
            }
        }
    }
}
