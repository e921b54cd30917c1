package import Base

/// The state of a message's delivery. Only the message log writes it.
package struct RelayRecord: Codable, Hashable, Sendable {
    package var state: RelayState
    /// How often a relay has taken it.
    package var attempts: Int
    /// When its parts for FCM are due; while a process has leased them, the end of the lease. Without such parts it is the expiry. Absent
    /// once the state is final.
    package var nextAttempt: UnixMilliseconds?
    /// The same for the component for Web Push. Absent if there is none, once it has ended, and while the message is held.
    package var webpushAttempt: UnixMilliseconds?
    /// The lease of the process that relays it.
    package var lease: Lease?
    /// When it ended; absent before.
    package var ended: UnixMilliseconds?
    /// When running apps could fetch it as accepted; absent before. Grows with each message that a process hands over.
    package var accepted: UnixMilliseconds?
    /// One entry for each component of the message's distribution and of the transports that were switched on when it was logged.
    package var components: [ComponentRecord]
    /// The interventions of people, oldest first; absent if there are none.
    package var trace: [Intervention]?

    private enum CodingKeys: String, CodingKey {
        case state, attempts, lease, ended, accepted, components, trace
        case nextAttempt = "next_attempt"
        case webpushAttempt = "webpush_attempt"
    }

    package init(
        state: RelayState, attempts: Int, nextAttempt: UnixMilliseconds?, webpushAttempt: UnixMilliseconds? = nil,
        lease: Lease? = nil, ended: UnixMilliseconds? = nil, accepted: UnixMilliseconds? = nil, components: [ComponentRecord],
        trace: [Intervention]? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.webpushAttempt = webpushAttempt
        self.lease = lease
        self.ended = ended
        self.accepted = accepted
        self.components = components
        self.trace = trace
    }

    /// The record of a newly logged message.
    ///
    /// - Parameters:
    ///   - transports: The transports that are switched on.
    ///   - due: The time from which it is due.
    ///   - expires: When it expires. Only a message without a component for FCM needs it.
    ///   - lease: The lease of the process that relays it at once, if there is one.
    package init(
        logged distribution: Distribution, by transports: PushTransports = .fcm, due: UnixMilliseconds,
        expires: UnixMilliseconds? = nil, lease: Lease? = nil
    ) {
        self.init(
            state: .pending, attempts: 0, nextAttempt: due, lease: lease,
            components: distribution.components(of: transports).map { ComponentRecord(component: $0) })
        setDue(lease?.until ?? due, expires: expires ?? due)
    }

    /// The record of a new message that waits for an approval. It is due when it expires.
    package init(held distribution: Distribution, by transports: PushTransports = .fcm, until expires: UnixMilliseconds) {
        self.init(logged: distribution, by: transports, due: expires)
        state = .held
        hold(until: expires)
    }

    /// The components that are still to be relayed.
    package var pendingComponents: [RelayComponent] {
        components.filter { $0.state == .pending }.map(\.component)
    }
}

/// The state of a whole message.
package enum RelayState: String, ClosedEnum {
    /// Logged, but not yet released for relaying: another account than the sender must approve it, or, after a restore from a backup, the
    /// operator must release it.
    case held
    /// Logged; no relay has answered for it yet.
    case pending
    /// At least one component failed and will be tried again.
    case retrying
    /// Every component was accepted: by FCM, and by the Web Push service. Final.
    case relayed
    /// At least one component can never be relayed. Final.
    case failed
    /// Its deadline passed before every component was accepted. Final.
    case expired
    /// It was recalled before FCM had accepted any of it. Final.
    case recalled
}

/// One component of a message, and its outcome.
package struct ComponentRecord: Codable, Hashable, Sendable {
    package var component: RelayComponent
    package var state: DeliveryState
    /// FCM's own name for the accepted message, such as `projects/p/messages/0:15…`. For Web Push the number of subscriptions.
    package var name: String?
    /// When FCM, or the Web Push service, has accepted it, by the clock of the message log. Absent before.
    package var acceptedAt: UnixMilliseconds?
    /// The error of the last attempt.
    package var error: DeliveryError?

    private enum CodingKeys: String, CodingKey {
        case component, state, name, error
        case acceptedAt = "accepted_at"
    }

    package init(
        component: RelayComponent, state: DeliveryState = .pending, name: String? = nil, acceptedAt: UnixMilliseconds? = nil,
        error: DeliveryError? = nil
    ) {
        self.component = component
        self.state = state
        self.name = name
        self.acceptedAt = acceptedAt
        self.error = error
    }
}

/// The state of one component.
package enum DeliveryState: String, ClosedEnum {
    case pending, accepted, failed, expired, recalled
}

/// A person's intervention in a delivery.
package struct Intervention: Codable, Hashable, Sendable {
    /// An action that only a newer version knows is kept as it is, so that services of two versions can use one archive.
    package struct Action: RawRepresentable, Codable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A failed message was sent again.
        package static let retry = Action(rawValue: "retry")
        /// A message was recalled before it went out.
        package static let recall = Action(rawValue: "recall")
        /// A message was changed before it went out.
        package static let edit = Action(rawValue: "edit")
        /// A held message was approved.
        package static let approve = Action(rawValue: "approve")
        /// The data was restored from a backup in which it had not ended. It is held until it is released.
        package static let restore = Action(rawValue: "restore")
        /// It was released after a restore.
        package static let release = Action(rawValue: "release")
    }

    package var action: Action
    package var at: UnixMilliseconds
    /// The account that requested it.
    package var by: String
    /// Why, in that person's words; absent if none were given.
    package var reason: String?

    package init(action: Action, at: UnixMilliseconds, by: String, reason: String? = nil) {
        self.action = action
        self.at = at
        self.by = by
        self.reason = reason
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

/// The error of a component that was not sent or not accepted.
package struct DeliveryError: Codable, Hashable, Sendable {
    /// What to do about it.
    package var `class`: ErrorClass
    /// FCM's error code or status if it gave one, otherwise one of the relay's (`RelayErrorCode`). There are few, so it can be
    /// a metric label.
    package var code: String
    /// One sentence for the operator.
    package var message: String
    /// For a retryable error: the minimum wait.
    package var retryAfter: Milliseconds?

    private enum CodingKeys: String, CodingKey {
        case `class`, code, message
        case retryAfter = "retry_after"
    }

    package init(class: ErrorClass, code: String, message: String, retryAfter: Milliseconds? = nil) {
        self.class = `class`
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }
}

/// Whether to retry.
package enum ErrorClass: String, ClosedEnum {
    /// Another attempt would fail as well.
    case permanent
    /// Another attempt may succeed.
    case retryable
    /// The message's deadline has passed.
    case expired
}

extension DeliveryError: Error {}

/// A part of a message that one HTTPS request to FCM carries (seed, "FCM Mapping").
package enum Component: String, ClosedEnum {
    /// The pop-up: title, body and `msi_key`.
    case notification
    /// The message itself, silently.
    case data
}

/// A part of a message that is relayed by itself: FCM's components, and one for Web Push.
package enum RelayComponent: String, ClosedEnum {
    /// FCM's pop-up.
    case notification
    /// FCM's silent message.
    case data
    /// The pushes to all browsers that are subscribed to the subject.
    case webpush

    package init(_ component: Component) {
        self =
            switch component {
            case .notification: .notification
            case .data: .data
            }
    }

    /// FCM's component; `nil` for that of another transport.
    package var fcm: Component? {
        switch self {
        case .notification: .notification
        case .data: .data
        case .webpush: nil
        }
    }

    package var transport: PushTransport { self == .webpush ? .webpush : .fcm }
}

extension Distribution {
    /// The components of a message of this distribution for some transports.
    package func components(of transports: PushTransports) -> [RelayComponent] {
        (transports.contains(.fcm) ? components.map { RelayComponent($0) } : [])
            + (transports.contains(.webpush) ? [.webpush] : [])
    }

    /// FCM's components of a message of this distribution, in the order of sending.
    package var components: [Component] {
        switch self {
        case .alert: [.notification, .data]
        case .information: [.data]
        }
    }
}
