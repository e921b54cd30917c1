import Bus
import FCM
import Base
import Schemas
import ServiceKit

/// Accepts a message: checks it against the cube and FCM's limits, gives it its `msi_key`, and has the message log store it.
struct MessagePosting: Sendable {
    /// The result of a post.
    struct Outcome {
        let msiKey: ObjectID
        let topicKey: TopicKey
        let timestamp: UnixMilliseconds
        /// Whether another account must approve it before it goes out.
        let needsApproval: Bool
        /// Whether an earlier post with the same idempotency key has stored it.
        let isReplay: Bool

        /// The outcome of a new message.
        init(_ command: LogMessage) {
            msiKey = command.msiKey
            topicKey = command.content.topicKey
            timestamp = command.timestamp
            needsApproval = command.approval == true
            isReplay = false
        }

        /// The outcome of a message that was stored already.
        init(_ stored: Message, isReplay: Bool) {
            msiKey = stored.msiKey
            topicKey = stored.topicKey
            timestamp = stored.timestamp
            needsApproval = stored.approval == true
            self.isReplay = isReplay
        }
    }

    let cube: CubeService
    let messageLog: CommandClient
    let payloadLimit: PayloadLimit
    let lifetimes: MessageLifetimes

    /// How far in the past `send_at` may be: a portal's clock may be slow.
    private static let clockDifference = Milliseconds.seconds(60)
    /// How far ahead a message may be scheduled: a year and a day.
    private static let maxAhead = Milliseconds.seconds(366 * 86_400)
    /// The shortest lifetime, including for "now or never" (a `ttl` of 0): relaying takes a moment.
    private static let minLifetime: Seconds = 10

    /// - Throws: ``Problem`` or ``CommandFailure``. After `unavailable` or `deadline_exceeded` the message may be stored or not; a
    ///   retry with the same idempotency key finds out.
    ///
    /// - Parameters:
    ///   - principal: The account that sends the message.
    ///   - caller: Its identity on the bus.
    func post(
        _ post: MessagePost, idempotencyKey: String?, by principal: Principal, for caller: CallerContext
    ) async throws -> Outcome {
        let command: LogMessage
        do {
            let entry = try await subject(for: post.content, by: principal)
            try await checkFollowed(of: post.content, by: principal, for: caller)
            command = try self.command(for: try await content(of: post, for: caller), entry, idempotencyKey)
        } catch {
            // A retry gets the first answer, even if the subject or the template has changed or `send_at` has passed since.
            guard let idempotencyKey, let first = try await find(idempotencyKey, for: caller) else { throw error }
            return try outcome(of: first, for: post, isReplay: true)
        }
        guard let known = try await store(command, for: caller) else { return Outcome(command) }
        return try outcome(of: known, for: post, isReplay: known.msiKey != command.msiKey)
    }

    /// The command for an edit of a stored message. The edited message is checked like a new one.
    ///
    /// - Parameters:
    ///   - seen: The time of the last edit that the caller has seen, 0 for none; `nil` if the caller does not say.
    ///   - principal: The account that edits the message.
    ///   - caller: Its identity on the bus.
    func edit(
        of message: Message, to post: MessagePost, seen: UnixMilliseconds?, by principal: Principal, for caller: CallerContext
    ) async throws -> EditMessage {
        try Self.checkUnchangeable(of: message, in: post.content)
        let entry = try await subject(for: post.content, by: principal)
        guard post.content.distribution == message.distribution else {
            throw Problem(
                .conflict,
                "distribution: the subject is distributed as \(post.content.distribution.rawValue) now, and the message as "
                    + "\(message.distribution.rawValue); recall it, and send another one",
                field: "distribution")
        }
        let command = try command(for: try await content(of: post, for: caller), entry, nil)
        var content = command.content
        // The delay counts from the edit.
        if let delay = content.delay { (content.sendAt, content.delay) = (command.timestamp + Milliseconds(delay), nil) }
        return EditMessage(
            msiKey: message.msiKey, content: content, names: command.names, expires: command.expires, approval: command.approval,
            edited: seen)
    }

    /// An edit can change neither the subject nor the message that this one follows or corrects.
    private static func checkUnchangeable(of message: Message, in new: MessageContent) throws(Problem) {
        guard new.topicKey == message.topicKey else {
            throw Problem(
                .invalidField, "topic_key: expected \(message.topicKey), the subject of the message", field: "topic_key")
        }
        guard new.follows == message.follows else {
            let expected = message.follows.map { "\"\($0)\"" } ?? "none"
            throw Problem(.invalidField, "follows: expected \(expected), as in the message", field: "follows")
        }
        guard new.corrects == message.corrects else {
            throw Problem(
                .invalidField, "correction: expected \(message.corrects != nil), as in the message", field: "correction")
        }
        if new.corrects != nil { try checkCollapseKey(of: message, in: new) }
    }

    /// A message that takes another one's place has its key.
    private static func checkCollapseKey(of message: Message, in new: MessageContent) throws(Problem) {
        guard message.options?.collapseKey == new.options?.collapseKey else {
            let expected = message.options?.collapseKey.map { "\"\($0)\"" } ?? "none"
            throw Problem(
                .invalidField, "options.collapse_key: expected \(expected), as in the corrected message",
                field: "options.collapse_key")
        }
    }

    /// A post that the caller makes by the names of a subject.
    ///
    /// - Parameters:
    ///   - makePost: Finds the subject and makes the post. A retry gets the first answer, even if this throws or finds another subject
    ///     since.
    ///   - isFirst: Whether a stored message is the result of the same request.
    func post(
        idempotencyKey: String?, by principal: Principal, for caller: CallerContext, _ makePost: () async throws -> MessagePost,
        isFirst: (Message) -> Bool
    ) async throws -> Outcome {
        do {
            return try await post(try await makePost(), idempotencyKey: idempotencyKey, by: principal, for: caller)
        } catch {
            guard let idempotencyKey, let first = try await find(idempotencyKey, for: caller) else { throw error }
            guard isFirst(first) else { throw Problem(keyOf: first) }
            return Outcome(first, isReplay: true)
        }
    }

    /// The message of a post; a template's blanks are filled.
    private func content(of post: MessagePost, for caller: CallerContext) async throws -> MessageContent {
        guard let id = post.content.template else { return post.content }
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
        return try post.content(from: template.document)
    }

    /// Checks that the caller may read the followed message.
    private func checkFollowed(of new: MessageContent, by principal: Principal, for caller: CallerContext) async throws {
        guard let follows = new.follows else { return }
        let unknown = Problem(.invalidField, "follows: no message \(follows)", field: "follows")
        let followed: Message
        do throws(CommandFailure) {
            followed = try await messageLog.request(GetMessage(msiKey: follows), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            throw unknown
        }
        guard try await cube.maySend(principal, to: followed.topicKey) else { throw unknown }
        if new.corrects != nil { try Self.checkCorrected(followed, by: new) }
    }

    /// A correction takes the place of the corrected message on the same phones.
    private static func checkCorrected(_ message: Message, by new: MessageContent) throws {
        if let first = message.corrects {
            throw Problem(
                .invalidField, "follows: \(message.msiKey) is itself a correction of \(first); correct that message",
                field: "follows")
        }
        guard message.topicKey == new.topicKey else {
            throw Problem(
                .invalidField, "topic_key: expected \(message.topicKey), the subject of the corrected message", field: "topic_key"
            )
        }
        switch message.relay.state {
        case .held, .pending, .retrying:
            let problem =
                message.relay.isBeyondRecall
                ? "a part of \(message.msiKey) is still on its way, so wait until that has ended"
                : "\(message.msiKey) has not gone out yet; recall it instead, or wait until it has"
            throw Problem(.invalidField, "follows: \(problem)", field: "follows")
        case .recalled:
            throw Problem(.invalidField, "follows: \(message.msiKey) was recalled, and phones remove it", field: "follows")
        case .relayed, .failed, .expired: break
        }
        try checkCollapseKey(of: message, in: new)
    }

    private func subject(for new: MessageContent, by principal: Principal) async throws -> CubeAccess.Entry {
        let access = try await cube.current().access
        guard let entry = access[new.topicKey] else {
            throw Problem(.topicUnknown, "topic_key: no subject has the topic key \(new.topicKey)", field: "topic_key")
        }
        try CubeService.requireSend(principal, to: new.topicKey, entry.names, by: access)
        let distribution = entry.subject.opt.distribution
        guard new.distribution == distribution else {
            throw Problem(
                .distributionMismatch,
                "distribution: the subject \"\(entry.names.subject)\" is distributed as \(distribution.rawValue), "
                    + "not as \(new.distribution.rawValue)",
                field: "distribution")
        }
        return entry
    }

    private func command(
        for content: MessageContent, _ entry: CubeAccess.Entry, _ idempotencyKey: String?
    ) throws -> LogMessage {
        let now = UnixMilliseconds.now
        if let sendAt = content.sendAt, !(now - Self.clockDifference...now + Self.maxAhead).contains(sendAt) {
            throw Problem(
                .invalidField,
                "send_at: expected a moment from now on, at most a year ahead, in Unix milliseconds; now is \(now), found \(sendAt)",
                field: "send_at")
        }
        let goesOut = max(now, content.sendAt ?? now + Milliseconds(content.delay ?? 0))
        let timeToLive = content.ttl ?? lifetimes[content.distribution]
        if let violation = payloadLimit.violation(by: content.marked, at: now) {
            throw Problem(.payloadTooLarge, violation.description, field: violation.field)
        }
        return LogMessage(
            msiKey: ObjectID(), content: content, timestamp: now, names: entry.names,
            expires: goesOut + Milliseconds(max(timeToLive, Self.minLifetime)), idempotencyKey: idempotencyKey,
            approval: entry.subject.approval == true ? true : nil)
    }

    /// Stores the message once, even if the message log restarts in between: a command with the same `msi_key` may be repeated.
    ///
    /// - Returns: The message that was stored already: by an earlier post with the same idempotency key, or by this command.
    private func store(_ command: LogMessage, for caller: CallerContext) async throws -> Message? {
        let deadline = ContinuousClock.now + DeliveryTimes.storeTimeout
        while true {
            do {
                return try await messageLog.request(command, timeout: deadline - .now, context: caller).known
            } catch {
                // Waits for a restart of the message log, but not for its database.
                guard error.status == .unavailable, error.retryAfter == nil, ContinuousClock.now < deadline else { throw error }
                // The pause prevents a busy loop if a request fails at once, without waiting for a connection.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// The message that the caller posted earlier with the key; `nil` if there is none.
    private func find(_ idempotencyKey: String, for caller: CallerContext) async throws -> Message? {
        do throws(CommandFailure) {
            return try await messageLog.request(FindMessage(idempotencyKey: idempotencyKey), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    private func outcome(of stored: Message, for post: MessagePost, isReplay: Bool) throws -> Outcome {
        guard stored.isResult(of: post) else { throw Problem(keyOf: stored) }
        return Outcome(stored, isReplay: isReplay)
    }
}

extension Message {
    /// Whether it was stored for this post. For an edited message, only the fields that an edit cannot change are compared: the
    /// other posted values are no longer stored.
    func isResult(of post: MessagePost) -> Bool {
        guard relay.edited != nil else { return post.isSource(of: content) }
        let posted = post.content
        return content.topicKey == posted.topicKey && content.distribution == posted.distribution
            && content.follows == posted.follows && content.corrects == posted.corrects
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

/// The default lifetimes of messages.
struct MessageLifetimes: Sendable {
    private let configured: LiveSetting<Seconds>
    /// The lifetime of an Alert; not longer than ``message``.
    let alert: Seconds

    init(message: LiveSetting<Seconds>, alert: Seconds) {
        configured = message
        self.alert = alert
    }

    /// The lifetime of a message.
    var message: Seconds { configured.value }

    /// The lifetime for a distribution.
    subscript(distribution: Distribution) -> Seconds {
        switch distribution {
        case .alert: min(alert, message)
        case .information: message
        }
    }
}
