import DequeModule
import Schemas
import ServiceKit

/// The components of a project's messages that are being sent to FCM, and those that FCM has recently accepted. So a repeated
/// command is sent once. Pure.
///
/// A command is repeated if its reply was lost, or if its sender considered the relay dead. The history is in memory, and limited
/// in number and time. A relay that has forgotten a command, or never had it, sends it again.
///
/// Another command that needs a component that is being sent waits for its `Joint`.
struct SendHistory<Joint: Sendable>: Sendable {
    /// What a command must do for a component.
    enum Decision: Sendable {
        /// The caller must send it and report the outcome.
        case send
        /// Another command is sending it.
        case join(Joint)
        /// FCM has accepted it under this name.
        case accepted(String)
    }

    private enum State: Sendable {
        /// It was not requested, or FCM has not accepted it.
        case none
        case inFlight(Joint?)
        case accepted(String)
    }

    private struct Entry: Sendable {
        var notification = State.none
        var data = State.none
        /// When it was last added to the remembered ones.
        var remembered: ContinuousClock.Instant?

        subscript(component: Component) -> State {
            get {
                switch component {
                case .notification: notification
                case .data: data
                }
            }
            set {
                switch component {
                case .notification: notification = newValue
                case .data: data = newValue
                }
            }
        }

        var isInFlight: Bool {
            if case .inFlight = notification { return true }
            if case .inFlight = data { return true }
            return false
        }
    }

    private struct Remembered: Sendable {
        let key: SendKey
        let since: ContinuousClock.Instant
    }

    static var memory: Duration { DeliveryTimes.sendMemory }

    private let maxRemembered: Int
    private var entries: [SendKey: Entry] = [:]
    /// Accepted components, oldest first.
    private var remembered: Deque<Remembered> = []

    /// - Parameter maxRemembered: The maximum number of remembered messages or recipients.
    init(maxRemembered: Int) {
        self.maxRemembered = maxRemembered
    }

    /// A command begins to send a message's components.
    ///
    /// - Parameter joint: Called for the first command that joins a component.
    /// - Returns: `nil` if the caller must send all of them, as nearly always; otherwise one decision for each.
    mutating func begin(_ components: [Component], of key: SendKey, joint: () -> Joint) -> [Decision]? {
        guard var entry = entries[key] else {
            var entry = Entry()
            for component in components { entry[component] = .inFlight(nil) }
            entries[key] = entry
            return nil
        }
        let decisions = components.map { component -> Decision in
            switch entry[component] {
            case .none:
                entry[component] = .inFlight(nil)
                return .send
            case .inFlight(let former):
                let joint = former ?? joint()
                entry[component] = .inFlight(joint)
                return .join(joint)
            case .accepted(let name):
                return .accepted(name)
            }
        }
        entries[key] = entry
        return decisions
    }

    /// Whether a message's component is being sent, or FCM has recently accepted one.
    func knows(_ key: SendKey) -> Bool {
        entries[key] != nil
    }

    /// The components that the caller had to send have ended.
    ///
    /// - Returns: What other commands wait for, with the outcomes.
    mutating func end(
        _ outcomes: [ComponentOutcome], of key: SendKey, at now: ContinuousClock.Instant
    ) -> [(joint: Joint, result: Result<String, DeliveryError>)] {
        guard let index = entries.index(forKey: key) else { return [] }
        var waiting: [(joint: Joint, result: Result<String, DeliveryError>)] = []
        var isAccepted = false
        for outcome in outcomes {
            if case .inFlight(let joint?) = entries.values[index][outcome.component] { waiting.append((joint, outcome.result)) }
            switch outcome.result {
            case .success(let name):
                entries.values[index][outcome.component] = .accepted(name)
                isAccepted = true
            case .failure:
                entries.values[index][outcome.component] = .none
            }
        }
        if isAccepted {
            entries.values[index].remembered = now
            remembered.append(Remembered(key: key, since: now))
        } else if entries.values[index].remembered == nil, !entries.values[index].isInFlight {
            entries.remove(at: index)
        }
        forget(at: now)
        return waiting
    }

    /// Forgets entries above the limits of time and number.
    private mutating func forget(at now: ContinuousClock.Instant) {
        while let oldest = remembered.first {
            guard remembered.count > maxRemembered || now - oldest.since > Self.memory else { break }
            remembered.removeFirst()
            guard let entry = entries[oldest.key], entry.remembered == oldest.since else { continue }
            if entry.isInFlight {
                entries[oldest.key]?.remembered = nil
            } else {
                entries[oldest.key] = nil
            }
        }
    }
}
