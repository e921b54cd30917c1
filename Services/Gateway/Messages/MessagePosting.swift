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
    func post(_ draft: MessageDraft, idempotencyKey: String?, for caller: RequestContext) async throws -> Outcome {
        let command: LogMessage
        do {
            command = try self.command(for: draft, try await subject(for: draft), idempotencyKey)
        } catch {
            // A retry gets the first answer, even if the subject has changed or `send_at` has passed since.
            guard let idempotencyKey, let first = try await find(idempotencyKey, for: caller) else { throw error }
            return try outcome(of: first, for: draft, isReplay: true)
        }
        let stored = try await store(command, for: caller)
        return try outcome(of: stored, for: draft, isReplay: stored.msiKey != command.msiKey)
    }

    private func subject(for draft: MessageDraft) async throws -> FindSubject.Reply {
        guard let entry = try await cube.subject(of: draft.topicKey) else {
            throw Problem(.topicUnknown, "topic_key: no subject has the topic key \(draft.topicKey)", field: "topic_key")
        }
        let distribution = entry.subject.opt.distribution
        guard draft.distribution == distribution else {
            throw Problem(
                .distributionMismatch,
                "distribution: the subject \"\(entry.names.subject)\" is distributed as \(distribution.rawValue), "
                    + "not as \(draft.distribution.rawValue)",
                field: "distribution")
        }
        return entry
    }

    private func command(
        for draft: MessageDraft, _ entry: FindSubject.Reply, _ idempotencyKey: String?
    ) throws -> LogMessage {
        let now = UnixMilliseconds.now
        if let sendAt = draft.sendAt, !(now - Self.clockDifference...now + Self.maxAhead).contains(sendAt) {
            throw Problem(
                .invalidField,
                "send_at: expected a moment from now on, at most a year ahead, in Unix milliseconds; now is \(now), found \(sendAt)",
                field: "send_at")
        }
        let timeToLive = draft.ttl ?? lifetimes[draft.distribution]
        let command = LogMessage(
            msiKey: ObjectID(), draft: draft, timestamp: now, names: entry.names,
            expires: max(now, draft.sendAt ?? now) + Milliseconds(max(timeToLive, Self.minLifetime)),
            idempotencyKey: idempotencyKey)
        let relayed = RelayMessage(msiKey: command.msiKey, timestamp: now, draft: draft, expires: command.expires)
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

    private func outcome(of stored: Message, for draft: MessageDraft, isReplay: Bool) throws -> Outcome {
        guard stored.draft == draft else {
            throw Problem(
                .idempotencyKeyReused, "Idempotency-Key: this key was used for message \(stored.msiKey), which is another one",
                field: "Idempotency-Key")
        }
        return Outcome(message: stored, isReplay: isReplay)
    }
}
