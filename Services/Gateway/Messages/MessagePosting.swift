import CommandBus
import FCM
import JSON
import Schemas
import ServiceKit
import Time

/// Accepts a message: checks it against the cube and FCM's limits, gives it its `msi_key`, and has the message log store it.
struct MessagePosting: Sendable {
    /// The result of a post.
    struct Outcome {
        let message: Message
        /// Whether an earlier post with the same idempotency key has stored it.
        let isReplay: Bool
    }

    let cube: CubeService
    let messageLog: CommandClient
    let payloadLimit: PayloadLimit
    let lifetimes: MessageLifetimes

    /// How far in the past `send_at` may be: a portal's clock may be slow.
    private static let clockDifference = Milliseconds.seconds(60)
    /// How far ahead a message may be scheduled: a year and a day.
    private static let maxAhead = Milliseconds.seconds(366 * 86_400)
    /// The shortest lifetime, also for "now or never" (a `ttl` of 0): relaying takes a moment.
    private static let minLifetime: Seconds = 10

    /// - Throws: ``Problem`` or ``CommandFailure``. After `unavailable` or `deadline_exceeded` the message may be stored or not; a
    ///   retry with the same idempotency key finds out.
    ///
    /// - Parameters:
    ///   - principal: The account that sends the message.
    ///   - caller: Its identity on the bus.
    func post(
        _ post: MessagePost, idempotencyKey: String?, by principal: Principal, for caller: RequestContext
    ) async throws -> Outcome {
        let command: LogMessage
        do {
            let entry = try await subject(for: post, by: principal)
            try await checkFollowed(of: post, by: principal, for: caller)
            command = try self.command(for: try await draft(of: post, for: caller), entry, idempotencyKey)
        } catch {
            // A retry gets the first answer, even if the subject or the template has changed or `send_at` has passed since.
            guard let idempotencyKey, let first = try await find(idempotencyKey, for: caller) else { throw error }
            return try outcome(of: first, for: post, isReplay: true)
        }
        let stored = try await store(command, for: caller)
        return try outcome(of: stored, for: post, isReplay: stored.msiKey != command.msiKey)
    }

    /// A post that the caller makes by the names of a subject.
    ///
    /// - Parameters:
    ///   - makePost: Finds the subject and makes the post. A retry gets the first answer, even if this throws or finds another subject
    ///     since.
    ///   - isFirst: Whether a stored message is the result of the same request.
    func post(
        idempotencyKey: String?, by principal: Principal, for caller: RequestContext, _ makePost: () async throws -> MessagePost,
        isFirst: (Message) -> Bool
    ) async throws -> Outcome {
        do {
            return try await post(try await makePost(), idempotencyKey: idempotencyKey, by: principal, for: caller)
        } catch {
            guard let idempotencyKey, let first = try await find(idempotencyKey, for: caller) else { throw error }
            guard isFirst(first) else { throw Problem(keyOf: first) }
            return Outcome(message: first, isReplay: true)
        }
    }

    /// The message of a post; a template's blanks are filled.
    private func draft(of post: MessagePost, for caller: RequestContext) async throws -> MessageDraft {
        guard let id = post.template else { return try post.draft() }
        let template: Revised<MessageTemplate>
        do throws(CommandFailure) {
            template = try await messageLog.request(GetResource<MessageTemplate>(id), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            throw Problem(.invalidField, "template: no template \(id)", field: "template")
        }
        if let seen = post.templateRevision, seen != template.revision {
            throw Problem(
                .conflict, "template_revision: the template was changed after revision \(seen); it is at \(template.revision)",
                field: "template_revision")
        }
        return try post.draft(from: template.document)
    }

    /// The followed message must be one that the caller may see.
    private func checkFollowed(of post: MessagePost, by principal: Principal, for caller: RequestContext) async throws {
        guard let follows = post.follows else { return }
        let unknown = Problem(.invalidField, "follows: no message \(follows)", field: "follows")
        let followed: Message
        do throws(CommandFailure) {
            followed = try await messageLog.request(GetMessage(msiKey: follows), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            throw unknown
        }
        guard try await cube.maySend(principal, to: followed.topicKey) else { throw unknown }
        if post.isCorrection { try Self.checkCorrected(followed, by: post) }
    }

    /// A correction takes the place of the corrected message on the same phones.
    private static func checkCorrected(_ message: Message, by post: MessagePost) throws {
        if let first = message.draft.corrects {
            throw Problem(
                .invalidField, "follows: \(message.msiKey) is itself a correction of \(first); correct that message",
                field: "follows")
        }
        guard message.topicKey == post.topicKey else {
            throw Problem(
                .invalidField, "topic_key: expected \(message.topicKey), the subject of the corrected message", field: "topic_key"
            )
        }
        switch message.relay.state {
        case .held, .pending, .retrying:
            let isPartlyOut = message.relay.components.contains { $0.state == .accepted }
            let problem =
                isPartlyOut
                ? "a part of \(message.msiKey) is still on its way, so wait until that has ended"
                : "\(message.msiKey) has not gone out yet; recall it instead, or wait until it has"
            throw Problem(.invalidField, "follows: \(problem)", field: "follows")
        case .recalled:
            throw Problem(.invalidField, "follows: \(message.msiKey) was recalled, and phones remove it", field: "follows")
        case .relayed, .failed, .expired: break
        }
        guard message.options?.collapseKey == post.collapseKey else {
            let expected = message.options?.collapseKey.map { "\"\($0)\"" } ?? "none"
            throw Problem(
                .invalidField, "options.collapse_key: expected \(expected), as in the corrected message",
                field: "options.collapse_key")
        }
    }

    private func subject(for post: MessagePost, by principal: Principal) async throws -> CubeAccess.Entry {
        guard let entry = try await cube.subject(of: post.topicKey) else {
            throw Problem(.topicUnknown, "topic_key: no subject has the topic key \(post.topicKey)", field: "topic_key")
        }
        try await cube.requireSend(principal, to: post.topicKey, entry.names)
        let distribution = entry.subject.opt.distribution
        guard post.distribution == distribution else {
            throw Problem(
                .distributionMismatch,
                "distribution: the subject \"\(entry.names.subject)\" is distributed as \(distribution.rawValue), "
                    + "not as \(post.distribution.rawValue)",
                field: "distribution")
        }
        return entry
    }

    private func command(
        for draft: MessageDraft, _ entry: CubeAccess.Entry, _ idempotencyKey: String?
    ) throws -> LogMessage {
        let now = UnixMilliseconds.now
        if let sendAt = draft.sendAt, !(now - Self.clockDifference...now + Self.maxAhead).contains(sendAt) {
            throw Problem(
                .invalidField,
                "send_at: expected a moment from now on, at most a year ahead, in Unix milliseconds; now is \(now), found \(sendAt)",
                field: "send_at")
        }
        let goesOut = max(now, draft.sendAt ?? now + Milliseconds(draft.delay ?? 0))
        let timeToLive = draft.ttl ?? lifetimes[draft.distribution]
        let command = LogMessage(
            msiKey: ObjectID(), draft: draft, timestamp: now, names: entry.names,
            expires: goesOut + Milliseconds(max(timeToLive, Self.minLifetime)), idempotencyKey: idempotencyKey,
            approval: entry.subject.approval == true ? true : nil)
        let relayed = RelayMessage(msiKey: command.msiKey, timestamp: now, draft: draft.marked, expires: command.expires)
        if let violation = payloadLimit.violation(by: relayed) {
            throw Problem(.payloadTooLarge, violation.description, field: violation.field)
        }
        return command
    }

    /// Stores the message once, even if the message log restarts in between: a command with the same `msi_key` may be repeated.
    private func store(_ command: LogMessage, for caller: RequestContext) async throws -> Message {
        let deadline = ContinuousClock.now + DeliveryTimes.storeTimeout
        while true {
            do {
                return try await messageLog.request(command, timeout: deadline - .now, context: caller).message
            } catch {
                // Waits for a restart of the message log, but not for its database.
                guard error.status == .unavailable, error.retryAfter == nil, ContinuousClock.now < deadline else { throw error }
                // The client has waited for a connection. The pause prevents a busy loop if a request fails at once.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// The message that the caller posted earlier with the key; `nil` if there is none.
    private func find(_ idempotencyKey: String, for caller: RequestContext) async throws -> Message? {
        do throws(CommandFailure) {
            return try await messageLog.request(FindMessage(idempotencyKey: idempotencyKey), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    private func outcome(of stored: Message, for post: MessagePost, isReplay: Bool) throws -> Outcome {
        guard post.isSource(of: stored.draft) else { throw Problem(keyOf: stored) }
        return Outcome(message: stored, isReplay: isReplay)
    }
}

extension Problem {
    /// The idempotency key of a post belongs to another message.
    fileprivate init(keyOf stored: Message) {
        self.init(
            .idempotencyKeyReused, "Idempotency-Key: this key was used for message \(stored.msiKey), which is another one",
            field: "Idempotency-Key")
    }
}
