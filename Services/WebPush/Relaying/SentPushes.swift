import DequeModule
import Schemas
import ServiceKit

/// What push services have accepted in the last minutes, so that a repeated command sends nothing twice. Pure.
///
/// A command is repeated if its reply was lost. The memory ends with the process: after a kill the pushes of a block whose answers were not
/// stored go out again, and the apps drop them by their `msi_key`.
struct SentPushes: Sendable {
    private struct Accepted: Sendable {
        /// The push services' names by subscription.
        var names: [ObjectID: String] = [:]
        /// When the last one was added.
        var at: ContinuousClock.Instant
    }

    private struct Addition: Sendable {
        let push: ObjectID
        let at: ContinuousClock.Instant
    }

    private var pushes: [ObjectID: Accepted] = [:]
    /// Oldest first.
    private var additions: Deque<Addition> = []
    /// The number of names.
    private var count = 0

    /// The maximum number of remembered names.
    static let maxNames = 200_000

    /// The names of a push that are known, by subscription.
    func names(of push: ObjectID) -> [ObjectID: String] { pushes[push]?.names ?? [:] }

    mutating func add(_ names: [ObjectID: String], to push: ObjectID, at now: ContinuousClock.Instant) {
        guard !names.isEmpty else { return }
        var accepted = pushes[push] ?? Accepted(at: now)
        count -= accepted.names.count
        accepted.names.merge(names) { $1 }
        accepted.at = now
        count += accepted.names.count
        pushes[push] = accepted
        additions.append(Addition(push: push, at: now))
        forget(at: now)
    }

    private mutating func forget(at now: ContinuousClock.Instant) {
        while let oldest = additions.first, count > Self.maxNames || now - oldest.at > DeliveryTimes.sendMemory {
            additions.removeFirst()
            // Otherwise a later command has added to it.
            guard let accepted = pushes[oldest.push], accepted.at == oldest.at else { continue }
            count -= accepted.names.count
            pushes[oldest.push] = nil
        }
    }
}
