import Base
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit
import Synchronization

/// The log of removed messages, a file of the state directory which neither a backup nor a restore touches. By its lines a
/// restored backup loses again what was removed since:
///
/// `2026-11-25T03:00:00Z 0b9f… 1764039661000`, the time, ``MessageDigest/place(_:to:)``, and the number up to which the messages
/// of a conversation to one of its persons were removed.
///
/// A line is on the disk before the transaction that removes. Of a place the greatest number counts; the file is written again
/// without the other lines at the start, and when it has become twice as large.
final class RemovedMessages: Sendable {
    struct Line: Hashable, Sendable {
        let place: String
        let number: Int64
    }

    let path: String
    /// The disk may be slow. One thread, so that the lines of several callers do not mix.
    private let thread = BlockingThreads(maxThreads: 1, maxWaiting: 1_000)
    /// From this size on the file is written again.
    private let maxSize = Mutex<Int>(RemovedMessages.minSize)

    private static let minSize = 1 << 20
    /// How long lines are kept: longer than any message waits.
    private static let keptFor = Milliseconds.seconds(35 * 86_400)
    private static let placeLength = 32
    private static let timeLength = 20

    init(stateDirectory: String) {
        path = stateDirectory + "/" + MessagingFiles.removed
    }

    /// Adds lines durably.
    ///
    /// - Throws: ``CommandFailure`` with `unavailable`. Then nothing may be removed.
    func append(_ lines: [Line], at now: UnixMilliseconds) async throws {
        guard !lines.isEmpty else { return }
        let time = Self.text(of: now)
        let text = lines.map { "\(time) \($0.place) \($0.number)\n" }.joined()
        try await onDisk { [self] in
            let size = try add(text)
            // If that fails, the lines are there, and a later one tries again.
            if size > maxSize.withLock(\.self) { try? rewrite(at: now) }
        }
    }

    /// The greatest number of each place.
    ///
    /// - Throws: ``CommandFailure`` with `unavailable` if there is a file that cannot be read.
    func numbers() async throws -> [String: Int64] {
        try await onDisk { [self] in try entries().mapValues { $0.number } }
    }

    /// Drops the lines that do not count any more, and makes the file if it is missing.
    func compact(at now: UnixMilliseconds) async throws {
        try await onDisk { [self] in
            _ = try add("")
            try rewrite(at: now)
        }
    }

    /// Ends the thread. Call it after the service has ended.
    func close() async { await thread.close() }

    // MARK: On the thread

    /// - Returns: The size of the file in bytes.
    private func add(_ text: String) throws(CommandFailure) -> Int {
        let (descriptor, size) = try openLocked()
        defer { Glibc.close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else { throw failure("written") }
        if size == 0 { try sync() }
        return size + bytes.count
    }

    private func rewrite(at now: UnixMilliseconds) throws(CommandFailure) {
        let (descriptor, _) = try openLocked()
        defer { Glibc.close(descriptor) }
        let oldest = Self.text(of: now - Self.keptFor)
        let kept = try entries().filter { $0.value.time >= oldest }
        let text = kept.map { "\($0.value.time) \($0.key) \($0.value.number)\n" }.sorted().joined()
        do {
            try DurableFiles.replace(path, text)
        } catch {
            throw failure("replaced")
        }
        maxSize.withLock { $0 = max(Self.minSize, 2 * text.utf8.count) }
    }

    /// Opens the file, and locks it against other instances of the service with the same state directory.
    private func openLocked() throws(CommandFailure) -> (descriptor: Int32, size: Int) {
        while true {
            let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("written") }
            var (opened, named) = (stat(), stat())
            guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &opened) == 0 else {
                defer { Glibc.close(descriptor) }
                throw failure("locked")
            }
            // Another instance may have replaced it before it let go of the lock.
            if stat(path, &named) == 0, named.st_ino == opened.st_ino { return (descriptor, Int(opened.st_size)) }
            Glibc.close(descriptor)
        }
    }

    private struct Entry {
        let time: String
        let number: Int64
    }

    /// The line of each place with the greatest number.
    private func entries() throws(CommandFailure) -> [String: Entry] {
        guard let data = FileManager.default.contents(atPath: path) else {
            guard !FileManager.default.fileExists(atPath: path) else { throw failure("read") }
            return [:]
        }
        var entries: [String: Entry] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            // A power cut may have left the beginning of another line before it.
            let words = line.split(separator: " ").suffix(3)
            guard words.count == 3, let number = words.last.flatMap({ Int64($0) }) else { continue }
            let (time, place) = (words[words.startIndex].suffix(Self.timeLength), words[words.startIndex + 1])
            guard time.utf8.count == Self.timeLength, place.utf8.count == Self.placeLength else { continue }
            let key = String(place)
            if let known = entries[key], known.number >= number { continue }
            entries[key] = Entry(time: String(time), number: number)
        }
        return entries
    }

    private func sync() throws(CommandFailure) {
        do {
            try DurableFiles.syncFolder(String(path.dropLast(MessagingFiles.removed.utf8.count + 1)))
        } catch {
            throw failure("synced")
        }
    }

    /// Texts of this form sort as the times do.
    private static func text(of time: UnixMilliseconds) -> String { Date(time).formatted(Date.ISO8601FormatStyle()) }

    /// Without the folder, since a person may get it.
    private func failure(_ what: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure(.unavailable, "\(MessagingFiles.removed) cannot be \(what): \(reason)", retryAfter: 2_000)
    }

    private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isAccepted = thread.submit { continuation.resume(with: Result(catching: work)) }
            guard !isAccepted else { return }
            continuation.resume(throwing: CommandFailure(.overloaded, "no thread for \(MessagingFiles.removed)"))
        }
    }
}
