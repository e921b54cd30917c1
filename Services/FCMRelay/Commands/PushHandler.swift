import Bus
import FCM
import Base
import Logging
import Schemas

/// Answers `push.relay`: sends one message to each recipient, and returns an outcome for each.
struct PushHandler: Sendable {
    let projects: Projects
    let limit: PayloadLimit
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds

    /// The maximum number of recipients whose requests are made on the bus thread, and whose answers are read there. A command of a few
    /// kilobytes may name a hundred.
    private static let maxOnBusThread = 16

    /// - Throws: ``SchemaViolation`` if FCM would refuse the message; ``CommandFailure`` if the project is not configured, and if
    ///   no project can send.
    func relay(_ command: RelayPush, _ context: CommandContext) async throws -> RelayPush.Reply {
        let arrival = ContinuousClock.now
        let now = now()
        let recipients = command.recipients
        let push = command.with(try FCMRules.checked(command.message, for: recipients, limit: limit), to: recipients)
        let topic: TopicKey? = if case .topic(let name) = recipients.first { TopicKey(name) } else { nil }
        let project = try projects.project(push.project, for: topic)
        let results: [Result<String, DeliveryError>]
        if let expires = push.expires, expires <= now {
            results = recipients.map { _ in .failure(.expired) }
        } else {
            let send = PushSend(
                push: push, recipients: recipients,
                keys: push.validateOnly == true ? nil : SendKey.keys(of: push, to: recipients),
                isUrgent: FCMRules.urgency(of: push.message) == .high, arrival: arrival,
                expiry: .now + Duration((push.expires ?? .max) - now), deadline: CommandDeadline.instant(of: context, now: now),
                now: self.now)
            try projects.checkCircuit(of: project, isKnown: project.knows(send))
            if recipients.count <= Self.maxOnBusThread {
                results = await self.send(send, by: project)
            } else {
                results = await onSharedThreads { await self.send(send, by: project) }
            }
        }
        await report(results, of: push, to: context)
        return RelayPush.Reply(results: results.map(SendResult.init))
    }

    private func send(_ push: PushSend, by project: Project) async -> [Result<String, DeliveryError>] {
        do throws(DeliveryError) {
            return try await project.withinPushLimit { await project.send(push) }
        } catch {
            // The error is each recipient's and not the command's. If the command failed, its caller would believe that the relay
            // takes no messages either.
            return push.recipients.map { _ in .failure(error) }
        }
    }

    /// Logs one line for the push, without its content and its tokens.
    private func report(_ results: [Result<String, DeliveryError>], of push: RelayPush, to context: CommandContext) async {
        let errors = results.compactMap { result in if case .failure(let error) = result { error } else { nil } }
        guard !errors.isEmpty else {
            return context.logger.debug(
                "accepted by FCM", metadata: ["push_id": "\(push.pushID)", "recipients": "\(results.count)"])
        }
        // As for messages: not on the bus thread.
        await onSharedThreads { reportFailures(errors, of: push, to: context) }
    }

    @inline(never)
    private func reportFailures(_ errors: [DeliveryError], of push: RelayPush, to context: CommandContext) {
        guard let first = errors.first else { return }
        context.logger.warning(
            "not accepted by FCM",
            metadata: [
                "push_id": "\(push.pushID)", "recipients": "\(push.recipients.count)", "failed": "\(errors.count)",
                "class": "\(first.class.rawValue)", "code": "\(first.code)", "error": "\(first.message)",
            ])
    }
}

extension RelayPush {
    /// The push with a message with snake_case names.
    fileprivate func with(_ message: JSONValue, to recipients: [PushRecipient]) -> RelayPush {
        RelayPush(
            pushID: pushID, transport: transport, recipients: recipients, message: message, expires: expires,
            validateOnly: validateOnly, project: project)
    }
}
