import Base
import FoundationEssentials
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
            // The status is stored before others learn that the process is ready.
            if let status = StatusFile.status(in: message.lines) { onStatus(status) }
            if message.lines.contains("READY=1") { onReady() }
            if let report = ReloadReport(notification: message.lines) { onReload(report) }
        }
    }

    private static func failure() -> StartFailure {
        StartFailure(description: "no notification socket: \(String(cString: strerror(errno)))")
    }
}

/// One datagram of sd_notify(3) and its sender.
struct NotifyMessage {
    let lines: [String]
    /// The sender's process id, from the kernel.
    let sender: pid_t

    /// `SCM_CREDENTIALS`, which Swift does not import.
    private static let credentials: Int32 = 2

    /// Receives a datagram from a non-blocking socket with `SO_PASSCRED`.
    ///
    /// - Returns: `nil` if there is none, or if it has no credentials.
    init?(from descriptor: Int32) {
        var text = [UInt8](repeating: 0, count: 4_096)
        // Space for the credentials only, which come first. The kernel closes descriptors that a sender adds.
        let headerSize = MemoryLayout<cmsghdr>.size
        var control = [UInt64](repeating: 0, count: (headerSize + 3 * MemoryLayout<Int32>.size + 7) / 8)
        let count = text.withUnsafeMutableBytes { text in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: text.baseAddress, iov_len: text.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var header = msghdr()
                    header.msg_iov = part
                    header.msg_iovlen = 1
                    header.msg_control = control.baseAddress
                    header.msg_controllen = control.count
                    return recvmsg(descriptor, &header, Int32(MSG_DONTWAIT))
                }
            }
        }
        let sender = control.withUnsafeBytes { control -> pid_t? in
            let header = control.loadUnaligned(as: cmsghdr.self)
            guard header.cmsg_level == SOL_SOCKET, header.cmsg_type == Self.credentials else { return nil }
            // `struct ucred` begins with the process id.
            return control.loadUnaligned(fromByteOffset: headerSize, as: pid_t.self)
        }
        guard count >= 0, let sender else { return nil }
        lines = String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
        self.sender = sender
    }
}

/// What a child of `msi up` has last told its manager about itself (`STATUS` in sd_notify(3)), in a file beside its log. So `msi doctor` knows
/// it as it knows the status of a unit.
struct StatusFile: Sendable {
    let path: String

    private static let field = "STATUS="
    private static let ended = "ended: "
    private static let maxBytes = 4_096

    /// - Parameter directory: The folder of the logs.
    init(of service: ServiceEntry, in directory: String) {
        path = "\(directory)/\(service.executable).status"
    }

    /// The last status among the lines of a notification; `nil` if it has none.
    static func status(in notification: [String]) -> String? {
        notification.last { $0.hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
    }

    /// The text of a child that has ended and is started again.
    static func text(ofEnd end: String) -> String { ended + end }

    /// The end that a text is about; `nil` for what the child itself has told.
    static func end(in text: String) -> String? { text.hasPrefix(ended) ? String(text.dropFirst(ended.count)) : nil }

    /// Replaces the text.
    ///
    /// - Returns: Whether it is written. Nothing depends on it, so a full disk is not an error; it can be tried again later.
    func write(_ text: String) -> Bool {
        do {
            try Data((text + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
            return true
        } catch {
            return false
        }
    }

    /// The text; `nil` if there is none, or this user cannot read it.
    func read() -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return String(decoding: data.prefix(Self.maxBytes), as: UTF8.self).split(separator: "\n").first.map(String.init)
    }

    /// The next child has told nothing yet.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
