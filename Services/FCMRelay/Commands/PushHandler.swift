import CommandBus
import FCM
import JSON
import Logging
import Schemas
import Time

/// Answers `push.relay`: sends one message to each recipient, and returns an outcome for each.
struct PushHandler: Sendable {
    let projects: Projects
    let limit: PayloadLimit
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds

    /// - Throws: ``SchemaViolation`` if FCM would refuse the message; ``CommandFailure`` if the project is not configured, and if
    ///   no project can send.
    func relay(_ command: RelayPush, _ context: CommandContext) async throws -> RelayPush.Reply {
        let now = now()
        let push = command.with(message: try FCMRules.checked(command.message, for: command.recipients, limit: limit))
        let topic: TopicKey? = if case .topic(let name) = push.recipients.first { TopicKey(name) } else { nil }
        let project = try projects.project(push.project, for: topic)
        let results: [Result<String, DeliveryError>]
        if let expires = push.expires, expires <= now {
            results = push.recipients.map { _ in .failure(.expired) }
        } else {
            if project.pushSender != nil { try projects.checkCircuit(of: project, isKnown: project.knows(push)) }
            results = await send(push, by: project, now: now, context)
        }
        report(results, of: push, to: context)
        return RelayPush.Reply(results: results.map(SendResult.init))
    }

    private func send(
        _ push: RelayPush, by project: Project, now: UnixMilliseconds, _ context: CommandContext
    ) async -> [Result<String, DeliveryError>] {
        let deadline = CommandDeadline.instant(of: context, now: now)
        let expiry = ContinuousClock.now + Duration((push.expires ?? .max) - now)
        let isUrgent = FCMRules.urgency(of: push.message) == .high
        let cost = min(push.recipients.count, Project.pushGroup)
        do throws(CommandFailure) {
            // Half of the limit is kept for messages.
            return try await project.withinLimit(cost: cost, limit: Project.maxInFlight / 2) {
                await project.send(push, isUrgent: isUrgent, before: expiry, by: deadline, now: self.now)
            }
        } catch {
            // The error is each recipient's and not the command's. If the command failed, its caller would believe that the relay
            // takes no messages either.
            return push.recipients.map { _ in .failure(DeliveryError(.overloaded, error.message)) }
        }
    }

    /// Logs one line for the push, without its content and its tokens.
    private func report(_ results: [Result<String, DeliveryError>], of push: RelayPush, to context: CommandContext) {
        let errors = results.compactMap { result in if case .failure(let error) = result { error } else { nil } }
        let figures: Logger.Metadata = ["push_id": "\(push.pushID)", "recipients": "\(results.count)"]
        guard let first = errors.first else { return context.logger.debug("accepted by FCM", metadata: figures) }
        context.logger.warning(
            "not accepted by FCM",
            metadata: figures.merging([
                "failed": "\(errors.count)", "class": "\(first.class.rawValue)", "code": "\(first.code)",
                "error": "\(first.message)",
            ]) { $1 })
    }
}

extension RelayPush {
    fileprivate func with(message: JSONValue) -> RelayPush {
        RelayPush(
            pushID: pushID, transport: transport, recipients: recipients, message: message, expires: expires,
            validateOnly: validateOnly, project: project)
    }
}
