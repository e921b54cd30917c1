/// The state of a push's delivery: its field `relay`, with an outcome for each recipient.
package struct PushRecord: Codable, DeliveryRecord {
    package var state: RelayState
    package var attempts: Int
    package var nextAttempt: UnixMilliseconds?
    package var webpushAttempt: UnixMilliseconds?
    package var lease: Lease?
    package var ended: UnixMilliseconds?
    /// The push's transport; absent for FCM.
    package var transport: PushTransport?
    /// In the order of the command.
    package var recipients: [RecipientRecord]
    package var trace: [Intervention]?

    /// Changed in place: with `set`, each change of one recipient would copy all of them.
    package var parts: [RecipientRecord] {
        get { recipients }
        _modify { yield &recipients }
    }

    private enum CodingKeys: String, CodingKey {
        case state, attempts, lease, ended, transport, recipients, trace
        case nextAttempt = "next_attempt"
        case webpushAttempt = "webpush_attempt"
    }

    package init(
        state: RelayState, attempts: Int, nextAttempt: UnixMilliseconds?, webpushAttempt: UnixMilliseconds? = nil,
        lease: Lease? = nil, ended: UnixMilliseconds? = nil, transport: PushTransport? = nil, recipients: [RecipientRecord],
        trace: [Intervention]? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.webpushAttempt = webpushAttempt
        self.lease = lease
        self.ended = ended
        self.transport = transport == .fcm ? nil : transport
        self.recipients = recipients
        self.trace = trace
    }

    /// The record of a newly logged push.
    ///
    /// - Parameters:
    ///   - due: The time from which it is due.
    ///   - expires: When it expires. Only Web Push needs it.
    package init(
        logged recipients: [PushRecipient], by transport: PushTransport = .fcm, due: UnixMilliseconds,
        expires: UnixMilliseconds? = nil
    ) {
        self.init(
            state: .pending, attempts: 0, nextAttempt: due, transport: transport,
            recipients: recipients.map { RecipientRecord(recipient: $0) })
        setDue(due, expires: expires ?? due)
    }

    package func transports(of part: RecipientRecord) -> PushTransports {
        switch part.recipient {
        case .topic, .condition, .token: PushTransports(transport ?? .fcm)
        // Until its devices are known, it waits for both, so that neither transport waits for the other.
        case .account: [.fcm, .webpush]
        case .fcmDevice: .fcm
        case .webpushDevice: .webpush
        }
    }
}

/// One recipient of a push, and its outcome: `{"token":"…","state":"accepted","name":"projects/p/messages/0:15…"}`.
package struct RecipientRecord: Hashable, DeliveryPart {
    package var recipient: PushRecipient
    package var state: DeliveryState
    package var name: String?
    /// When FCM has accepted it, by the clock of the message log. Absent before.
    package var acceptedAt: UnixMilliseconds?
    package var error: DeliveryError?

    package init(
        recipient: PushRecipient, state: DeliveryState = .pending, name: String? = nil, acceptedAt: UnixMilliseconds? = nil,
        error: DeliveryError? = nil
    ) {
        self.recipient = recipient
        self.state = state
        self.name = name
        self.acceptedAt = acceptedAt
        self.error = error
    }

    package func isSamePart(as other: RecipientRecord) -> Bool { recipient == other.recipient }

    /// Whether FCM, or the Web Push service, reports that the app is no longer installed. The sender should delete the token.
    package var isUnregistered: Bool {
        (recipient.token != nil || recipient.device != nil) && state == .failed && error?.isUnregistered == true
    }
}

extension RecipientRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case topic, condition, token, account, state, name, error
        case fcmDevice = "fcm_device"
        case webpushDevice = "webpush_device"
        case acceptedAt = "accepted_at"

        init(_ field: PushRecipient.Field) {
            self =
                switch field {
                case .topic: .topic
                case .condition: .condition
                case .token: .token
                case .account: .account
                case .fcmDevice: .fcmDevice
                case .webpushDevice: .webpushDevice
                }
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Nearly always it is a token.
        guard let field = PushRecipient.Field.allCases.last(where: { container.contains(CodingKeys($0)) }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected a topic, a condition, a token or a device"))
        }
        self.init(
            recipient: PushRecipient(field, try container.decode(String.self, forKey: CodingKeys(field))),
            state: try container.decode(DeliveryState.self, forKey: .state),
            name: try container.decodeIfPresent(String.self, forKey: .name),
            acceptedAt: try container.decodeIfPresent(UnixMilliseconds.self, forKey: .acceptedAt),
            error: try container.decodeIfPresent(DeliveryError.self, forKey: .error))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recipient.text, forKey: CodingKeys(recipient.field))
        try container.encode(state, forKey: .state)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(acceptedAt, forKey: .acceptedAt)
        try container.encodeIfPresent(error, forKey: .error)
    }
}

/// The state of a delivery: the common part of a message's and a push's record. Only the message log writes it.
package protocol DeliveryRecord: Hashable, Sendable {
    associatedtype Part: DeliveryPart

    var state: RelayState { get set }
    /// How often a relay has taken it.
    var attempts: Int { get set }
    /// When its parts for FCM are due; while a process is at work on them, the end of the lease. Without such parts it is the expiry.
    /// Absent once the state is final.
    var nextAttempt: UnixMilliseconds? { get set }
    /// When its parts for Web Push are due; while a process is at work on them, the end of the lease. Absent if there are none, once they
    /// have ended, and while it is held.
    var webpushAttempt: UnixMilliseconds? { get set }
    var lease: Lease? { get set }
    /// When it ended; absent before.
    var ended: UnixMilliseconds? { get set }
    /// The parts that are sent separately, each with its outcome.
    var parts: [Part] { get set }
    /// The interventions of people, oldest first.
    var trace: [Intervention]? { get set }
    /// Whether it is too late to recall it.
    var isBeyondRecall: Bool { get }

    /// What sends a part: one transport, or all that may, while that is not known.
    func transports(of part: Part) -> PushTransports
}

/// What is sent by one request, and its outcome.
package protocol DeliveryPart: Hashable, Sendable {
    var state: DeliveryState { get set }
    /// FCM's name for the accepted message.
    var name: String? { get set }
    /// When FCM has accepted it.
    var acceptedAt: UnixMilliseconds? { get set }
    /// The error of the last attempt.
    var error: DeliveryError? { get set }

    /// Whether another value is the same part in another state.
    func isSamePart(as other: Self) -> Bool
}

extension DeliveryRecord {
    package var isBeyondRecall: Bool { parts.contains { $0.state == .accepted } }

    /// Whether it comes from a backup and has not been released since. It may have gone out after the backup was made.
    package var isHeldByRestore: Bool {
        guard state == .held else { return false }
        return trace?.last { $0.action == .restore || $0.action == .release }?.action == .restore
    }

    /// When the message was last edited; `nil` if it never was.
    package var edited: UnixMilliseconds? { trace?.last { $0.action == .edit }?.at }

    /// Whether somebody has approved the message as it is now.
    package var isApproved: Bool { trace?.last { $0.action == .approve || $0.action == .edit }?.action == .approve }

    /// The positions of the parts that are still to be sent.
    package var pendingParts: [Int] { parts.indices.filter { parts[$0].state == .pending } }

    /// The record after a change that applies to records of every type.
    package func changed(by change: (inout any DeliveryRecord) throws -> Void) rethrows -> Self {
        var record: any DeliveryRecord = self
        try change(&record)
        // A change does not change the record's type.
        return record as? Self ?? self
    }
}

extension RelayRecord: DeliveryRecord {
    package var parts: [ComponentRecord] {
        get { components }
        _modify { yield &components }
    }

    package func transports(of part: ComponentRecord) -> PushTransports { PushTransports(part.component.transport) }

    /// Browsers ask the hub after each push and at each start of the app, and remove Alerts that were recalled. The hub does not tell them of
    /// recalled Information.
    package var isBeyondRecall: Bool {
        let isAlert = components.contains { $0.component == .notification }
        return components.contains { part in
            let isInBrowsersOnly = part.component == .webpush && (isAlert || part.name == "0")
            return part.state == .accepted && !isInBrowsersOnly
        }
    }
}

extension ComponentRecord: DeliveryPart {
    package func isSamePart(as other: ComponentRecord) -> Bool { component == other.component }
}
