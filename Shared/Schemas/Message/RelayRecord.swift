import JSON

/// How far a message has come on its way to FCM. The message log alone writes it.
package struct RelayRecord: Codable, Hashable, Sendable {
    package var state: RelayState
    /// How often a relay has answered for it.
    package var attempts: Int
    /// When it is to be taken up next, and by whoever comes first; while somebody is at work on it, the end of the lease.
    /// Absent once the state is final.
    package var nextAttempt: UnixMilliseconds?
    /// Who is at work on it, and until when nobody else is.
    package var lease: Lease?
    /// When it came to its end; absent before.
    package var ended: UnixMilliseconds?
    /// One entry for each component that the message's distribution asks for.
    package var components: [ComponentRecord]
    /// What people did to it, oldest first; absent where nobody did anything.
    package var trace: [Intervention]?

    private enum CodingKeys: String, CodingKey {
        case state, attempts, lease, ended, components, trace
        case nextAttempt = "next_attempt"
    }

    package init(
        state: RelayState, attempts: Int, nextAttempt: UnixMilliseconds?, lease: Lease? = nil,
        ended: UnixMilliseconds? = nil, components: [ComponentRecord], trace: [Intervention]? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.lease = lease
        self.ended = ended
        self.components = components
        self.trace = trace
    }

    /// The record of a message that has just been logged.
    ///
    /// - Parameters:
    ///   - due: When it is to go out.
    ///   - lease: The lease of whoever is about to relay it at once, if somebody is.
    package init(logged distribution: Distribution, due: UnixMilliseconds, lease: Lease? = nil) {
        self.init(
            state: .pending, attempts: 0, nextAttempt: lease?.until ?? due, lease: lease,
            components: distribution.components.map { ComponentRecord(component: $0) })
    }

    /// The components that still have to be relayed.
    package var outstanding: [Component] {
        components.filter { $0.state == .pending }.map(\.component)
    }
}

/// Where a message as a whole stands.
package enum RelayState: String, ClosedEnum {
    /// Logged; no relay has answered for it yet.
    case pending
    /// At least one component could not be relayed yet and will be tried again.
    case retrying
    /// FCM has accepted every component. Final.
    case relayed
    /// At least one component can never be relayed. Final.
    case failed
    /// Its deadline passed before every component was accepted. Final.
    case expired
    /// It was taken back before it went out. Final.
    case recalled
}

/// One component of a message (seed, "FCM Mapping": one HTTPS request to FCM) and what became of it.
package struct ComponentRecord: Codable, Hashable, Sendable {
    package var component: Component
    package var state: ComponentState
    /// FCM's own name for the accepted message, such as `projects/p/messages/0:15…`.
    package var name: String?
    /// Why it was not accepted when it was last tried.
    package var error: ComponentError?

    package init(component: Component, state: ComponentState = .pending, name: String? = nil, error: ComponentError? = nil) {
        self.component = component
        self.state = state
        self.name = name
        self.error = error
    }
}

/// Where one component stands.
package enum ComponentState: String, ClosedEnum {
    case pending, accepted, failed, expired, recalled
}

/// Something that somebody did to a message on its way.
package struct Intervention: Codable, Hashable, Sendable {
    package enum Action: String, ClosedEnum {
        /// A failed message was handed to FCM once more.
        case retry
        /// A message that had not gone out yet was taken back.
        case recall
    }

    package var action: Action
    package var at: UnixMilliseconds
    /// On whose behalf.
    package var by: String

    package init(action: Action, at: UnixMilliseconds, by: String) {
        self.action = action
        self.at = at
        self.by = by
    }
}

/// A claim on a message, so that only one instance of the message log relays it at a time.
package struct Lease: Codable, Hashable, Sendable {
    package var owner: String
    package var until: UnixMilliseconds

    package init(owner: String, until: UnixMilliseconds) {
        self.owner = owner
        self.until = until
    }
}
