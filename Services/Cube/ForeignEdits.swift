import Bus
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

extension CubeStore {
    /// Comparisons take at most a twentieth of the time.
    private static let pauseToEffort = 20
    private static let maxPause = Duration.seconds(30)

    /// Watches whether another program changes the cube, and counts each change as a new version; as ``Storage/watch(_:_:)``. Changes since
    /// the last time are found too: the documents are compared with their measure (``CubeMeasure``).
    ///
    /// - Parameter counted: Gets the version of each change.
    func followForeignEdits(_ counted: @escaping @Sendable (CubeChanged) -> Void) async throws {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { continuation.finish() }
                try await storage.watch(CubeCollections.channels) { continuation.yield() }
            }
            group.addTask {
                for await _ in changes {
                    let start = ContinuousClock.now
                    let outcome: Result<CubeChanged?, any Error>
                    do {
                        outcome = .success(try await countForeignEdit())
                    } catch {
                        outcome = .failure(error)
                    }
                    if case .success(let change?) = outcome { counted(change) }
                    try await Task.sleep(for: min((.now - start) * Self.pauseToEffort, Self.maxPause))
                    _ = try outcome.get()
                }
            }
            while try await group.next() != nil {}
        }
    }
}

/// Announces changes that another program has made in the database.
struct ForeignEditWatch: Service {
    let store: CubeStore
    let announcer: RepeatedEvent<CubeChanged>
    let logger: Logger

    private static let pauseAfterFailure = Duration.seconds(1)

    func run() async throws {
        // The announcer logs an outage of the database.
        let outage = OutageLog("it is not known whether another program has changed the cube", logger: logger) { _ in true }
        await RepeatingService(every: Self.pauseAfterFailure, outage: outage, from: ()) { _ in
            try await store.followForeignEdits { change in
                announcer.announce(change)
                logger.notice("another program has changed the cube", metadata: ["version": "\(change.version)"])
            }
            return .after(.zero)
        }.run()
    }
}
