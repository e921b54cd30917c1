import Base
import FoundationEssentials
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Keeps what phones show of broadcasts in a file, which another server hands out while the hub is away.
///
/// It has only broadcasts that have begun. So it is written at the start, after each change of any instance, and when a broadcast begins or
/// ends. Once a minute it is written again if it is not as this process has left it.
final class BroadcastFile: Service {
    private let path: String
    private let version: @Sendable () async throws -> Revision
    private let current: @Sendable () async throws -> ReadCurrentBroadcasts.Reply
    /// How long the disk may take.
    private let maxBusy: Duration
    private let checkPeriod: Duration
    private let outage: OutageLog
    /// The disk may hang.
    private let thread = BlockingThreads(maxThreads: 1, maxWaiting: 1)
    /// When the disk was last asked for something that it has not done yet.
    private let busySince = Mutex<ContinuousClock.Instant?>(nil)

    /// The interval of looks for a change.
    private static let period = Duration.seconds(1)
    /// How long the end of the service waits for the disk.
    private static let closeTimeout = Duration.seconds(2)

    /// - Parameters:
    ///   - path: The file. Its folder must be there.
    ///   - version: The number of changes so far.
    ///   - current: What phones need to know.
    ///   - checkPeriod: The interval of looks at the file.
    ///   - maxBusy: After this time a disk that does not answer has failed.
    init(
        at path: String, version: @escaping @Sendable () async throws -> Revision,
        current: @escaping @Sendable () async throws -> ReadCurrentBroadcasts.Reply,
        checkPeriod: Duration = .seconds(60), maxBusy: Duration = .seconds(10), logger: Logger
    ) {
        self.path = path
        self.version = version
        self.current = current
        self.checkPeriod = checkPeriod
        self.maxBusy = maxBusy
        var logger = logger
        logger[metadataKey: "file"] = "\(path)"
        outage = OutageLog("the broadcasts' file cannot be written", logger: logger)
    }

    /// Whether the file is up to date, as a part of the service's health.
    var health: [String: PartHealth] {
        if let since = busySince.withLock(\.self), ContinuousClock.now - since > maxBusy {
            return ["file": PartHealth(.unavailable, "the disk with the file of the active broadcasts does not answer")]
        }
        guard outage.isOngoing else { return ["file": .ok] }
        return ["file": PartHealth(.unavailable, "the file of the active broadcasts cannot be written; the log says why")]
    }

    /// What the file has.
    private struct Written {
        let version: Revision
        let stamp: FileStamp?
        /// When the next broadcast begins or ends.
        let until: UnixMilliseconds?

        func isOld(_ latest: Revision) -> Bool { latest != version || until.map { $0 <= .now } ?? false }
    }

    func run() async throws {
        await RepeatingService(
            every: Self.period, retries: Backoff(first: Self.period, max: .seconds(30)), outage: outage,
            from: (written: Written?.none, check: ContinuousClock.now)
        ) { [self] state in
            let latest = try await version()
            if state.check <= .now {
                state.check = .now + checkPeriod
                if let last = state.written, try await isReplaced(last.stamp) { state.written = nil }
            }
            if state.written?.isOld(latest) ?? true { state.written = try await write() }
            return .periodic
        }.run()
    }

    /// Call it after the service has ended. A disk that hangs does not keep the process.
    func close() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        Task { [thread] in
            await thread.close()
            end.finish()
        }
        Task {
            try? await Task.sleep(for: Self.closeTimeout)
            end.finish()
        }
        for await _ in ends {}
    }

    private func write() async throws -> Written {
        let current = try await current()
        let now = UnixMilliseconds.now
        let text = String(decoding: try JSONCoder.encode(BroadcastsFile(current.active(at: now))), as: UTF8.self) + "\n"
        let stamp = try await onDisk { [path] in
            DurableFiles.removeOldDrafts(of: path)
            return try DurableFiles.replace(path, text, isPublic: true)
        }
        return Written(version: current.version, stamp: stamp, until: current.nextChange(after: now))
    }

    /// Whether the file is absent, or another one than this process has written.
    private func isReplaced(_ stamp: FileStamp?) async throws -> Bool {
        guard let stamp else { return true }
        return try await onDisk { [path] in FileStamp(of: path) != stamp }
    }

    /// Waits for the disk until the task is cancelled.
    ///
    /// - Throws: An error of the work, or `CancellationError`.
    func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let (outcomes, outcome) = AsyncStream<Result<Value, any Error>>.makeStream()
        busySince.withLock { $0 = .now }
        let isAccepted = thread.submit { [self] in
            let result = Result<Value, any Error> { try work() }
            busySince.withLock { $0 = nil }
            outcome.yield(result)
            outcome.finish()
        }
        guard isAccepted else {
            busySince.withLock { $0 = nil }
            throw CommandFailure(.overloaded, "no thread for the file")
        }
        for await result in outcomes { return try result.get() }
        throw CancellationError()
    }
}
