import Logging
import MongoDatabase
import Schemas
import Synchronization
import UnreadableDocuments

/// Detects changes that other programs make in `icube`.
///
/// Changes are detected by comparing the documents (``CubeMeasure``), so changes from the time of a stop are detected as well. A
/// change stream only says when to compare. Without one it compares every second.
final class MongoForeignEdits: Sendable {
    private struct State {
        /// The duration of the last comparison.
        var effort = Duration.zero
        /// When to try a change stream again.
        var streamAfter: ContinuousClock.Instant?
        var hasSaidThatItPolls = false
    }

    /// The interval of comparisons without a change stream.
    private static let pollPeriod = Duration.seconds(1)
    /// The maximum interval of comparisons.
    private static let maxPause = Duration.seconds(30)
    /// Comparisons take at most a twentieth of the time.
    private static let pauseToEffort = 20
    private static let pauseBetweenStreams = Duration.seconds(60)

    private let database: MongoDatabase
    private let unreadable: UnreadableDocuments
    private let logger: Logger
    private let state = Mutex(State())

    init(database: MongoDatabase, unreadable: UnreadableDocuments, logger: Logger) {
        self.database = database
        self.unreadable = unreadable
        self.logger = logger
    }

    /// Compares and, if nothing has changed, waits until the next comparison is due.
    func next() async throws -> CubeVersion? {
        let (effort, streamAfter) = state.withLock { ($0.effort, $0.streamAfter) }
        try await Task.sleep(for: min(effort * Self.pauseToEffort, Self.maxPause))
        if streamAfter.map({ $0 <= .now }) ?? true {
            do {
                return try await lookAndWait()
            } catch let error as MongoError where [.other, .notAuthorised].contains(error.code) {
                poll(because: error)
            }
        }
        if let version = try await database.run({ try self.compare($0) }) { return version }
        try await Task.sleep(for: Self.pollPeriod)
        return nil
    }

    private func lookAndWait() async throws -> CubeVersion? {
        let isCancelled = StopFlag()
        return try await withTaskCancellationHandler {
            try await database.watch { connection in
                // Open the stream first, so that it reports every change after the comparison.
                try connection.withChanges(of: CubeCollections.channels) { changes in
                    if let version = try self.compare(connection) { return version }
                    let end = ContinuousClock.now + Self.maxPause
                    while !isCancelled.isSet, .now < end {
                        if try changes.hasChange() { break }
                    }
                    return nil
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private func compare(_ connection: MongoConnection) throws -> CubeVersion? {
        let start = ContinuousClock.now
        let version = try connection.countForeignEdit(unreadable)
        state.withLock { $0.effort = .now - start }
        return version
    }

    private func poll(because error: MongoError) {
        let isNew = state.withLock { state in
            state.streamAfter = .now + Self.pauseBetweenStreams
            defer { state.hasSaidThatItPolls = true }
            return !state.hasSaidThatItPolls
        }
        guard isNew else { return }
        logger.notice(
            "there is no change stream of icube: changes by other programs are looked for every second",
            metadata: ["error": "\(error)"])
    }
}

/// Tells a blocking thread to stop.
private final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
