import DedicatedThread
import DurableFiles
import FoundationEssentials
import JSON
import Logging
import Schemas
import ServiceLifecycle
import Synchronization
import Time

/// Keeps what phones need to know of broadcasts in a file, which another server hands out while the hub is away.
///
/// It is written at the start and after each change, also of another instance. What expires stays until the next change: phones look at
/// the time themselves.
final class BroadcastFile: Service {
    private let path: String
    private let version: @Sendable () async throws -> Revision
    private let current: @Sendable () async throws -> ReadCurrentBroadcasts.Reply
    private let logger: Logger
    /// The disk may hang.
    private let thread = BlockingThreads(maxThreads: 1, maxWaiting: 1)
    private let hasFailed = Mutex(false)

    /// The interval of looks for a change.
    private static let period = Duration.seconds(1)

    /// - Parameters:
    ///   - path: The file. Its folder must be there.
    ///   - version: The number of changes so far.
    ///   - current: What phones need to know.
    init(
        at path: String, version: @escaping @Sendable () async throws -> Revision,
        current: @escaping @Sendable () async throws -> ReadCurrentBroadcasts.Reply, logger: Logger
    ) {
        self.path = path
        self.version = version
        self.current = current
        self.logger = logger
    }

    /// Whether the file is up to date, as a part of the service's health.
    var health: [String: PartHealth] {
        guard hasFailed.withLock(\.self) else { return ["file": .ok] }
        return ["file": PartHealth(.unavailable, "the file of the active broadcasts cannot be written; the log says why")]
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            var written: Revision?
            var backoff = Backoff(first: Self.period, max: .seconds(30))
            var pause = Self.period
            repeat {
                do {
                    let latest = try await version()
                    if latest != written { written = try await write() }
                    note(nil)
                    backoff.succeeded()
                    pause = Self.period
                } catch {
                    if Task.isCancelled { return }
                    note(error)
                    pause = backoff.failed()
                }
            } while (try? await Task.sleep(for: pause)) != nil
        }
    }

    /// Call it after the service has ended.
    func close() async { await thread.close() }

    private func note(_ error: (any Error)?) {
        let hadFailed = hasFailed.withLock { hasFailed in
            defer { hasFailed = error != nil }
            return hasFailed
        }
        if let error, !hadFailed {
            logger.warning("the broadcasts' file cannot be written", metadata: ["file": "\(path)", "error": "\(error)"])
        }
        if error == nil, hadFailed { logger.notice("over: the broadcasts' file cannot be written") }
    }

    /// - Returns: The version that the file has.
    private func write() async throws -> Revision {
        let current = try await current()
        let text = String(decoding: try JSONCoder.encode(ActiveBroadcasts(current)), as: UTF8.self)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isAccepted = thread.submit { [path] in
                continuation.resume(with: Result { try DurableFiles.replace(path, text, isPublic: true) })
            }
            if !isAccepted { continuation.resume(throwing: CommandFailure(.overloaded, "no thread for the file")) }
        }
        return current.version
    }
}
