#if canImport(Glibc)
    import Glibc
#endif

/// The listening Unix socket of an `ipc://` endpoint, of which there is one at a time.
///
/// The socket is made here and lent to ZeroMQ (`ZMQ_USE_FD`), because ZeroMQ itself would replace the socket of a process
/// that still serves it, would open it to every user for a moment, and would remove the file at some time after closing,
/// when it may be a successor's. A lock on `<path>.lock`, which goes with the process however that ends, says whose the
/// path is; the lock's file stays, since removing it would let two processes hold different locks of one name.
final class UnixListener {
    /// Listens; ZeroMQ closes it.
    let descriptor: Int32
    private let path: String
    private let lock: Int32

    /// - Throws: ``BusError`` where another process serves the path, or the system refuses.
    init(path: String) throws(BusError) {
        self.path = path
        try Self.makeParent(of: path)
        lock = try Self.lock(path)
        do {
            try Self.removeStaleSocket(path)
            descriptor = try Self.listen(path)
        } catch {
            Glibc.close(lock)
            throw error
        }
    }

    /// Removes the socket's file and lets others have the path.
    func release() {
        unlink(path)
        Glibc.close(lock)
    }

    /// Gives everything back where ZeroMQ did not take the socket.
    func abandon() {
        Glibc.close(descriptor)
        release()
    }

    private static func makeParent(of path: String) throws(BusError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let parent = String(path[..<slash])
        if mkdir(parent, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw failure(path, "cannot make the folder \(parent)") }
        try makeParent(of: parent)
        if mkdir(parent, 0o700) != 0, errno != EEXIST { throw failure(path, "cannot make the folder \(parent)") }
    }

    private static func lock(_ path: String) throws(BusError) -> Int32 {
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure(path, "cannot open \(path).lock") }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let error =
                errno == EWOULDBLOCK
                ? BusError(.addressInUse, "ipc://\(path): another process serves it (it holds \(path).lock)")
                : failure(path, "cannot lock \(path).lock")
            Glibc.close(lock)
            throw error
        }
        return lock
    }

    /// Removes the socket that a killed process left behind. One that somebody without our lock serves is not stale.
    private static func removeStaleSocket(_ path: String) throws(BusError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure(path, "cannot look at \(path)")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw BusError(.addressInUse, "ipc://\(path): there is a file of that name, which is not a socket")
        }
        let probe = try socket(path)
        defer { Glibc.close(probe) }
        if withAddress(path, { connect(probe, $0, $1) }) == 0 || errno == EAGAIN {
            throw BusError(.addressInUse, "ipc://\(path): another process serves it")
        }
        if unlink(path) != 0, errno != ENOENT { throw failure(path, "cannot remove the stale socket") }
    }

    private static func listen(_ path: String) throws(BusError) -> Int32 {
        let descriptor = try socket(path)
        // Linux gives the file the mode of the socket: it is never open to others, not even for a moment.
        guard fchmod(descriptor, 0o600) == 0, withAddress(path, { bind(descriptor, $0, $1) }) == 0,
            Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let error = failure(path, "cannot listen")
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func socket(_ path: String) throws(BusError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure(path, "cannot make a socket") }
        return descriptor
    }

    /// The path is known to fit: ``Endpoint`` has checked it.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(Endpoint.longestPath)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private static func failure(_ path: String, _ what: String) -> BusError {
        BusError(.system, "ipc://\(path): \(what): \(ZeroMQFault(number: errno))")
    }
}
