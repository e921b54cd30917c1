import DequeModule
import Schemas
import ServiceKit
import Synchronization

/// The components of a project's messages that are being sent to FCM, and those that FCM has recently accepted. So a repeated
/// command is sent once. Pure.
///
/// A command is repeated if its reply was lost, or if its sender considered the relay dead. The history is in memory, and limited
/// in number and time. A relay that has forgotten a command, or never had it, sends it again.
///
/// If another command needs a component that is being sent, both share a `Shared`, which the other command waits for.
struct SendHistory<Shared: Sendable>: Sendable {
    /// What a command must do for a component.
    enum Decision: Sendable {
        /// The caller must send it and report the outcome.
        case send
        /// Another command is sending it.
        case join(Shared)
        /// FCM has accepted it under this name.
        case accepted(String)
    }

    private enum Flight: Sendable {
        /// It is not being sent.
        case idle
        /// One command is sending it, and no other waits for it.
        case alone
        case shared(Shared)
    }

    /// The components of a message that are being sent.
    private struct InFlight: Sendable {
        private var notification = Flight.idle
        private var data = Flight.idle

        subscript(component: Component) -> Flight {
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

        var isEmpty: Bool {
            if case .idle = notification, case .idle = data { true } else { false }
        }
    }

    /// The components of a message that FCM has accepted.
    private struct Remembered: Sendable {
        let key: SendKey
        /// When the last one was accepted.
        let since: ContinuousClock.Instant
        private var notification: SentName?
        private var data: SentName?

        init(_ key: SendKey, since: ContinuousClock.Instant) {
            self.key = key
            self.since = since
        }

        subscript(component: Component) -> SentName? {
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
    }

    static var memory: Duration { DeliveryTimes.sendMemory }

    private let maxRemembered: Int
    private var inFlight: [SendKey: InFlight] = [:]
    /// Accepted components, oldest first. Of a message that is here several times, the last one has all of its components.
    private var remembered: Deque<Remembered> = []
    /// The number of the first element of ``remembered``. Each one has the next number, after the largest one 0.
    private var firstNumber: UInt32 = 0
    /// The last element of each message.
    private var numbers: [SendKey: UInt32] = [:]
    private var names = SentNames()

    /// - Parameter maxRemembered: The maximum number of remembered messages or recipients.
    init(maxRemembered: Int) {
        self.maxRemembered = maxRemembered
        // Without growing in steps, each of which copies them and may take half of it again. The system gives the memory when it is used.
        remembered.reserveCapacity(maxRemembered + 1)
        numbers.reserveCapacity(maxRemembered + 1)
    }

    /// A command begins to send a message's components.
    ///
    /// - Parameter shared: Makes a `Shared` for the first command that waits for a component.
    /// - Returns: `nil` if the caller must send all of them, as nearly always; otherwise one decision for each.
    mutating func begin(_ components: [Component], of key: SendKey, shared: () -> Shared) -> [Decision]? {
        let known = lastRemembered(key)
        var flight = inFlight[key]
        guard known != nil || flight != nil else {
            var all = InFlight()
            for component in components { all[component] = .alone }
            inFlight[key] = all
            return nil
        }
        let decisions = components.map { component -> Decision in
            if let name = known?[component] { return .accepted(names.text(of: name)) }
            switch flight?[component] ?? .idle {
            case .idle:
                flight = flight ?? InFlight()
                flight?[component] = .alone
                return .send
            case .alone:
                let new = shared()
                flight?[component] = .shared(new)
                return .join(new)
            case .shared(let existing):
                return .join(existing)
            }
        }
        inFlight[key] = flight
        return decisions
    }

    /// A command begins to send a component of several messages or, for a push, recipients.
    ///
    /// - Returns: `nil` if the caller must send all of them, as nearly always; otherwise one decision for each.
    mutating func begin(
        _ component: Component, of keys: some Collection<SendKey>, shared: () -> Shared
    ) -> [Decision]? {
        let components = [component]
        var decisions: [Decision]?
        for (position, key) in keys.enumerated() {
            let decision = begin(components, of: key, shared: shared)?.first
            if decision != nil, decisions == nil { decisions = Array(repeating: .send, count: position) }
            decisions?.append(decision ?? .send)
        }
        return decisions
    }

    /// Whether a message's component is being sent, or FCM has recently accepted one.
    func knows(_ key: SendKey) -> Bool {
        numbers[key] != nil || inFlight[key] != nil
    }

    private func lastRemembered(_ key: SendKey) -> Remembered? {
        numbers[key].map { remembered[Int($0 &- firstNumber)] }
    }

    /// The components that the caller had to send have ended.
    ///
    /// - Returns: What other commands wait for, and the outcomes.
    mutating func end(
        _ outcomes: some Collection<ComponentOutcome>, of key: SendKey, at now: ContinuousClock.Instant
    ) -> [(shared: Shared, result: Result<String, DeliveryError>)] {
        guard var flight = inFlight[key] else { return [] }
        var waiting: [(shared: Shared, result: Result<String, DeliveryError>)] = []
        for outcome in outcomes {
            if case .shared(let shared) = flight[outcome.component] { waiting.append((shared, outcome.result)) }
            flight[outcome.component] = .idle
        }
        inFlight[key] = flight.isEmpty ? nil : flight
        remember(outcomes, of: key, at: now)
        forget(at: now)
        return waiting
    }

    /// Remembers the components that FCM has accepted, together with those of the same message before.
    private mutating func remember(
        _ outcomes: some Collection<ComponentOutcome>, of key: SendKey, at now: ContinuousClock.Instant
    ) {
        var new: Remembered?
        for outcome in outcomes {
            guard case .success(let name) = outcome.result else { continue }
            if new == nil {
                new = Remembered(key, since: now)
                if let known = lastRemembered(key) {
                    for component in Component.allCases { new?[component] = known[component] }
                }
            }
            new?[outcome.component] = names.compact(name)
        }
        guard let new else { return }
        numbers[key] = firstNumber &+ UInt32(remembered.count)
        remembered.append(new)
    }

    /// The same for a component of several messages or recipients.
    ///
    /// - Parameter results: One for each key.
    mutating func end(
        _ component: Component, _ results: [Result<String, DeliveryError>], of keys: some Collection<SendKey>,
        at now: ContinuousClock.Instant
    ) -> [(shared: Shared, result: Result<String, DeliveryError>)] {
        var waiting: [(shared: Shared, result: Result<String, DeliveryError>)] = []
        for (key, result) in zip(keys, results) {
            waiting += end(CollectionOfOne(ComponentOutcome(component: component, result: result)), of: key, at: now)
        }
        return waiting
    }

    /// Forgets entries above the limits of time and number.
    private mutating func forget(at now: ContinuousClock.Instant) {
        while let oldest = remembered.first {
            guard remembered.count > maxRemembered || now - oldest.since > Self.memory else { break }
            remembered.removeFirst()
            if numbers[oldest.key] == firstNumber { numbers[oldest.key] = nil }
            firstNumber &+= 1
        }
    }
}

/// The outcome of a component, for commands that wait for another command's send.
final class SharedOutcome: Sendable {
    typealias Outcome = Result<String, DeliveryError>
    private typealias Waiter = CheckedContinuation<Outcome?, Never>

    private struct State {
        var outcome: Outcome?
        var waiting: [UInt64: Waiter] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Resumes all waiters, and answers all later ones.
    func resolve(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { waiter.resume(returning: outcome) }
    }

    /// Waits for the outcome.
    ///
    /// - Returns: `nil` if it is unknown at the deadline.
    func value(by deadline: ContinuousClock.Instant) async -> Outcome? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        // Cancelled when this scope ends.
        async let _: Void = leave(id, at: deadline)
        return await withCheckedContinuation { waiter in
            let outcome: Outcome?? = state.withLock { state in
                if let outcome = state.outcome { return .some(outcome) }
                if deadline <= .now { return .some(nil) }
                state.waiting[id] = waiter
                return nil
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }

    private func leave(_ id: UInt64, at deadline: ContinuousClock.Instant) async {
        // Cancelled: the wait has ended.
        guard (try? await Task.sleep(until: deadline)) != nil else { return }
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
    }
}

/// The identity of a send: the key of the message or the push, and everything that FCM gets except the time to live.
struct SendKey: Hashable, Sendable {
    /// The `msi_key` of a message, or the id of a push.
    private let id: ObjectID
    /// A hash of the content. If a sender uses one key for several messages, or one message for several phones,
    /// each of them is sent.
    private let content: Int

    init(_ command: RelayMessage) {
        id = command.msiKey
        var hasher = Hasher()
        hasher.combine(command.timestamp)
        hasher.combine(command.content.topicKey)
        hasher.combine(command.content.distribution)
        hasher.combine(command.content.options)
        hasher.combine(command.target)
        for text in [command.content.title, command.content.desc, command.content.message] { hasher.combine(utf8: text) }
        content = hasher.finalize()
    }

    private init(id: ObjectID, content: Int) {
        self.id = id
        self.content = content
    }

    /// The keys of a push, one for each recipient, in their order. The message is hashed once: it may be large.
    static func keys(of push: RelayPush, to recipients: [PushRecipient]) -> [SendKey] {
        var common = Hasher()
        common.combine(push.message)
        return recipients.map { recipient in
            var hasher = common
            hasher.combine(recipient)
            return SendKey(id: push.pushID, content: hasher.finalize())
        }
    }
}

extension Hasher {
    /// Hashes the bytes, which is much faster than `String`'s Unicode-aware hashing.
    fileprivate mutating func combine(utf8 text: String) {
        combine(text.utf8.count)
        let isDone = text.utf8.withContiguousStorageIfAvailable { combine(bytes: UnsafeRawBufferPointer($0)) } != nil
        if !isDone { for byte in text.utf8 { combine(byte) } }
    }
}
