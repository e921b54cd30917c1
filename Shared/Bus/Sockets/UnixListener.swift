#if canImport(Glibc)
    import Glibc
#endif

/// The only listening Unix socket of an `ipc://` endpoint.
///
/// It creates the socket itself and lends it to ZeroMQ (`ZMQ_USE_FD`). ZeroMQ's own binding has three flaws. It
/// replaces the socket of a process that still serves it. It opens the socket to every user for a moment. It removes the file
/// some time after closing, when the file may be a successor's.
///
/// A lock on `<path>.lock` decides which process owns the path. The system releases it when the process ends. The lock's file
/// stays, since removing it would let two processes hold different locks of the same name.
///
/// Another program, such as a job that clears temporary folders, may remove the files. Then no client can connect, so the owner
/// checks ``isInPlace`` at intervals.
final class UnixListener {
    /// The listening socket, which ZeroMQ closes.
    let descriptor: Int32
    private let path: String
    private let lock: Int32
    /// The socket's file.
    private let file: FileIdentity?

    /// - Throws: ``BusError`` if another process serves the path, or the system refuses.
    convenience init(path: String) throws(BusError) {
        try Self.makeParent(of: path)
        let lock = try Self.lock(path)
        do {
            try self.init(path: path, lock: lock)
        } catch {
            Glibc.close(lock)
            throw error
        }
    }

    /// Listens again after the file of an earlier listener was removed. That listener must no longer be used.
    ///
    /// - Throws: ``BusError`` if another process has taken the path, or the system refuses.
    convenience init(replacing old: UnixListener) throws(BusError) {
        try Self.makeParent(of: old.path)
        let isLocked = FileIdentity(of: old.lock) == FileIdentity(at: Self.lockPath(old.path))
        let lock = isLocked ? old.lock : try Self.lock(old.path)
        do {
            try self.init(path: old.path, lock: lock)
        } catch {
            if lock != old.lock { Glibc.close(lock) }
            throw error
        }
        if lock != old.lock { Glibc.close(old.lock) }
    }

    private init(path: String, lock: Int32) throws(BusError) {
        try Self.removeStaleSocket(path)
        descriptor = try Self.listen(path)
        file = FileIdentity(at: path)
        self.path = path
        self.lock = lock
    }

    /// Whether the file is still the one of this listener.
    var isInPlace: Bool { file != nil && FileIdentity(at: path) == file }

    /// Removes the socket's file, unless it was replaced.
    func removeFile() {
        if isInPlace { unlink(path) }
    }

    /// Removes the socket's file and releases the lock.
    func release() {
        removeFile()
        Glibc.close(lock)
    }

    private static func makeParent(of path: String) throws(BusError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let parent = String(path[..<slash])
        if mkdir(parent, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw failure(path, "cannot make the folder \(parent)") }
        try makeParent(of: parent)
        if mkdir(parent, 0o700) != 0, errno != EEXIST { throw failure(path, "cannot make the folder \(parent)") }
    }

    private static func lockPath(_ path: String) -> String { "\(path).lock" }

    private static func lock(_ path: String) throws(BusError) -> Int32 {
        let lock = open(lockPath(path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
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

    /// Removes the socket of a killed process. A socket that is still served, even without our lock, is not stale.
    private static func removeStaleSocket(_ path: String) throws(BusError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure(path, "cannot look at \(path)")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw BusError(.addressInUse, "ipc://\(path): a file of that name exists and is not a socket")
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
        // Linux gives the file the mode of the socket, less the process's mask. So it is never open to everyone.
        guard fchmod(descriptor, 0o600) == 0, withAddress(path, { bind(descriptor, $0, $1) }) == 0, allowGroup(path),
            Glibc.listen(descriptor, SOMAXCONN) == 0
        else {
            let error = failure(path, "cannot listen")
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Lets the group use the socket's file if the folder is for the owner and the group alone.
    private static func allowGroup(_ path: String) -> Bool {
        let parent = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        var folder = stat()
        let isForGroup = stat(String(parent), &folder) == 0 && folder.st_mode & 0o017 == 0o010
        return !isForGroup || chmod(path, 0o660) == 0
    }

    private static func socket(_ path: String) throws(BusError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure(path, "cannot make a socket") }
        return descriptor
    }

    /// The path fits: ``Endpoint`` has checked its length.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(Endpoint.maxPathBytes)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private static func failure(_ path: String, _ what: String) -> BusError {
        BusError(.system, "ipc://\(path): \(what): \(ZeroMQFault(number: errno))")
    }
}

/// Identifies a file independently of its name.
private struct FileIdentity: Equatable {
    let device: dev_t
    let inode: ino_t

    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
