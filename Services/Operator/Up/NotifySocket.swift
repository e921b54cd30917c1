import DedicatedThread
import Glibc
import ServiceKit
import Synchronization
import SystemPackage

/// The receiving side of sd_notify(3): a datagram socket on which a child reports that it is ready.
///
/// Its name is in Linux's abstract namespace. So it leaves no file behind, but every user can send to it. Therefore the kernel
/// adds the sender's process id (`SO_PASSCRED`), and only the child's messages count.
final class NotifySocket: Sendable {
    /// The value of the child's `NOTIFY_SOCKET`.
    let name: String
    private let descriptor: Int32
    /// A pipe. Closing the write end stops the thread at the read end. Once the thread runs, it owns the socket and the read end.
    private let closing: (read: Int32, write: Int32)
    private let isListening = Atomic(false)

    init(for child: String) throws {
        name = "@msi-\(child)-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        descriptor = try Self.bind(to: name)
        do {
            let ends = try FileDescriptor.pipe(options: [.closeOnExec])
            closing = (read: ends.readEnd.rawValue, write: ends.writeEnd.rawValue)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Calls a function for each `READY=1` of a process, one for each report on a reload, and one for each status, until ``close()``. Call
    /// it at most once, and before ``close()``.
    ///
    /// Earlier messages of the process are queued in the socket.
    func listen(
        to process: pid_t, onReload: @escaping @Sendable (ReloadReport) -> Void = { _ in },
        onStatus: @escaping @Sendable (String) -> Void = { _ in },
        onReady: @escaping @Sendable () -> Void
    ) throws {
        let (descriptor, end) = (descriptor, closing.read)
        try DedicatedThread.start {
            Self.receive(from: descriptor, until: end, process, onReload, onStatus, onReady)
            Glibc.close(descriptor)
            Glibc.close(end)
        }
        isListening.store(true, ordering: .relaxed)
    }

    /// Closes the socket. Call it once.
    func close() {
        Glibc.close(closing.write)
        guard !isListening.load(ordering: .relaxed) else { return }
        Glibc.close(descriptor)
        Glibc.close(closing.read)
    }

    private static func bind(to name: String) throws -> Int32 {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard var address = sockaddr_un(path: name), case let descriptor = socket(AF_UNIX, type, 0), descriptor >= 0 else {
            throw failure()
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) == 0 }
        }
        var isOn: Int32 = 1
        guard isBound, setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &isOn, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            let failure = failure()
            Glibc.close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func receive(
        from descriptor: Int32, until end: Int32, _ process: pid_t, _ onReload: (ReloadReport) -> Void,
        _ onStatus: (String) -> Void, _ onReady: () -> Void
    ) {
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: 0, revents: 0),
        ]
        while true {
            guard poll(&entries, 2, -1) >= 0 || errno == EINTR, entries[1].revents == 0 else { return }
            guard let message = NotifyMessage(from: descriptor), message.sender == process else { continue }
            // Before what tells others that it is ready.
            if let status = StatusFile.status(in: message.lines) { onStatus(status) }
            if message.lines.contains("READY=1") { onReady() }
            if let report = ReloadReport(notification: message.lines) { onReload(report) }
        }
    }

    private static func failure() -> StartFailure {
        StartFailure(description: "no notification socket: \(String(cString: strerror(errno)))")
    }
}
