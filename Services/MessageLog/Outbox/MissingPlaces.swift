import MessageStorage
import Schemas
import Time

/// Gives a place in the order of acceptance to the messages that an earlier version of the product has handed to FCM, so that phones
/// can fetch them.
struct MissingPlaces {
    private let store: any MessageStore
    private let acceptances: AcceptanceClock

    /// How many messages are changed at a time.
    private static let maxAtATime = 8

    init(store: any MessageStore, acceptances: AcceptanceClock) {
        self.store = store
        self.acceptances = acceptances
    }

    /// - Returns: How many messages have got a place.
    func fill() async throws -> Int {
        var missing = try await store.withoutAcceptance(endedSince: .now - ReadAccepted.reach)[...]
        let count = missing.count
        while !missing.isEmpty {
            try Task.checkCancellation()
            try await acceptances.refresh(from: store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in missing.prefix(Self.maxAtATime) {
                    group.addTask { [store, acceptances] in
                        _ = try await store.update(key) { record, _ in acceptances.note(&record, at: .now) }
                    }
                }
                try await group.waitForAll()
            }
            missing = missing.dropFirst(Self.maxAtATime)
        }
        return count
    }
}
