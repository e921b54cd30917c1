import Schemas

/// Which components of a project's messages are on their way to FCM, and which FCM has lately accepted: so that a command that
/// comes twice is sent once. Pure.
///
/// A command comes twice where its answer was lost, or where its sender took the relay for dead. All of this is in memory, limited
/// in number and time; a relay that has forgotten a command, or never had it, sends it again.
///
/// `Joint` is what those wait for who ask for a component that is under way.
struct SendHistory<Joint: Sendable>: Sendable {
    /// What a command asks for.
    enum Place: Sendable {
        /// It is for the caller to send, who reports how that went.
        case send
        /// It is under way.
        case join(Joint)
        /// FCM has accepted it under this name.
        case accepted(String)
    }

    private enum State: Sendable {
        /// It was not asked for, or FCM has not accepted it.
        case none
        case underWay(Joint?)
        case accepted(String)
    }

    private struct Entry: Sendable {
        var notification = State.none
        var data = State.none
        /// When it was last put among the remembered ones.
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

        var isUnderWay: Bool {
            if case .underWay = notification { return true }
            if case .underWay = data { return true }
            return false
        }
    }

    private struct Remembered: Sendable {
        let key: SendKey
        let since: ContinuousClock.Instant
    }

    /// Longer than it takes a sender to repeat a command: a lease of the message log lasts half a minute.
    static var memory: Duration { .seconds(120) }
    static var maxRemembered: Int { 10_000 }

    private var entries: [SendKey: Entry] = [:]
    /// What FCM has accepted, oldest first.
    private var remembered: [Remembered] = []
    private var head = 0

    /// A command asks for a message's components.
    ///
    /// - Parameter joint: Made for the first who joins a component.
    /// - Returns: `nil` where all of them are for the caller to send, as nearly always; otherwise one place for each.
    mutating func begin(_ components: [Component], of key: SendKey, joint: () -> Joint) -> [Place]? {
        guard var entry = entries[key] else {
            var entry = Entry()
            for component in components { entry[component] = .underWay(nil) }
            entries[key] = entry
            return nil
        }
        let places = components.map { component -> Place in
            switch entry[component] {
            case .none:
                entry[component] = .underWay(nil)
                return .send
            case .underWay(let former):
                let joint = former ?? joint()
                entry[component] = .underWay(joint)
                return .join(joint)
            case .accepted(let name):
                return .accepted(name)
            }
        }
        entries[key] = entry
        return places
    }

    /// Whether a message's components are under way, or FCM has lately accepted one.
    func knows(_ key: SendKey) -> Bool {
        entries[key] != nil
    }

    /// Components that the caller had to send have come to their end.
    ///
    /// - Returns: The callers that wait for them, and what became of each.
    mutating func end(
        _ outcomes: [ComponentOutcome], of key: SendKey, at now: ContinuousClock.Instant
    ) -> [(joint: Joint, result: Result<String, ComponentError>)] {
        guard let index = entries.index(forKey: key) else { return [] }
        var waiting: [(joint: Joint, result: Result<String, ComponentError>)] = []
        var isAccepted = false
        for outcome in outcomes {
            if case .underWay(let joint?) = entries.values[index][outcome.component] { waiting.append((joint, outcome.result)) }
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
        } else if entries.values[index].remembered == nil, !entries.values[index].isUnderWay {
            entries.remove(at: index)
        }
        forget(at: now)
        return waiting
    }

    /// Forgets what was accepted too long ago, and what is too much.
    private mutating func forget(at now: ContinuousClock.Instant) {
        while head < remembered.count {
            let oldest = remembered[head]
            guard remembered.count - head > Self.maxRemembered || now - oldest.since > Self.memory else { break }
            head += 1
            guard let entry = entries[oldest.key], entry.remembered == oldest.since else { continue }
            if entry.isUnderWay {
                entries[oldest.key]?.remembered = nil
            } else {
                entries[oldest.key] = nil
            }
        }
        if head > 1_000, head * 2 > remembered.count {
            remembered.removeFirst(head)
            head = 0
        }
    }
}
