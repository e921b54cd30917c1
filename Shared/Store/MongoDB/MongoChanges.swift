import Base
import Logging
import Schemas
import Synchronization

/// Tells when a collection may have changed: by a change stream, or without one every second.
final class MongoChanges: Sendable {
    private struct State {
        /// When to try a change stream again.
        var streamAfter: ContinuousClock.Instant?
        var hasSaidThatItPolls = false
    }

    private static let pauseBetweenStreams = Duration.seconds(60)

    private let database: MongoDatabase
    private let logger: Logger
    private let state = Mutex(State())

    init(in database: MongoDatabase, logger: Logger) {
        self.database = database
        self.logger = logger
    }

    /// As ``Storage/watch(_:_:)``.
    func watch(_ collection: String, _ changed: @escaping @Sendable () -> Void) async throws {
        if state.withLock(\.streamAfter).map({ $0 <= .now }) ?? true {
            do {
                return try await follow(collection, changed)
            } catch let error as MongoError where [.other, .notAuthorised].contains(error.code) {
                poll(collection, because: error)
            }
        }
        let end = ContinuousClock.now + WatchTimes.duration
        repeat {
            changed()
            try await Task.sleep(untilNext: WatchTimes.pollPeriod)
        } while .now < end
    }

    private func follow(_ collection: String, _ changed: @escaping @Sendable () -> Void) async throws {
        let isCancelled = StopFlag()
        try await withTaskCancellationHandler {
            try await database.watch { connection in
                try connection.withChanges(of: collection) { changes in
                    // Only now: the stream reports every change after what is read from here on.
                    changed()
                    let end = ContinuousClock.now + WatchTimes.duration
                    while !isCancelled.isSet, .now < end {
                        if try changes.hasChange() { changed() }
                    }
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private func poll(_ collection: String, because error: MongoError) {
        let isNew = state.withLock { state in
            state.streamAfter = .now + Self.pauseBetweenStreams
            defer { state.hasSaidThatItPolls = true }
            return !state.hasSaidThatItPolls
        }
        guard isNew else { return }
        logger.notice(
            "there is no change stream of \(collection): changes by other programs are looked for every second",
            metadata: ["error": "\(error)"])
    }
}

/// Tells a blocking thread to stop.
private final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
