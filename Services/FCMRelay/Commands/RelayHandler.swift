import CommandBus
import Logging
import Schemas

/// Answers `message.relay`: sends the components that are asked for, and says what became of each.
struct RelayHandler: Sendable {
    /// How long a command that names no deadline may take.
    private static let longestTime: Int64 = 30_000
    /// What is left of a deadline for the answer's own way back, in milliseconds.
    private static let timeForAnswer: Int64 = 250

    let sender: any FCMSender
    let pacer: Pacer
    let limit: PayloadLimit
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds

    func relay(_ command: RelayMessage, _ context: CommandContext) async -> RelayMessage.Reply {
        let now = now()
        context.logger.debug(
            "taken up",
            metadata: [
                "msi_key": "\(command.msiKey)", "components": "\(command.components.map(\.rawValue).joined(separator: " "))",
            ])
        let outcomes: [ComponentOutcome]
        if let refusal = refusal(of: command, now: now) {
            outcomes = command.components.map { ComponentOutcome(component: $0, result: .failure(refusal)) }
        } else {
            outcomes = await send(command, now: now, by: deadline(of: context, now: now))
        }
        report(outcomes, of: command, to: context)
        return RelayMessage.Reply(components: outcomes)
    }

    /// Why a message is not even tried, or `nil`.
    private func refusal(of command: RelayMessage, now: UnixMilliseconds) -> ComponentError? {
        if let expires = command.expires, expires <= now {
            return .expired
        }
        // Of an Alert, a notification alone would call up a message that never comes: both or none.
        if let violation = limit.violation(by: command) {
            return ComponentError(class: .permanent, code: "PAYLOAD_TOO_LARGE", message: violation.problem)
        }
        return nil
    }

    private func send(
        _ command: RelayMessage, now: UnixMilliseconds, by deadline: ContinuousClock.Instant
    ) async -> [ComponentOutcome] {
        let expiry = ContinuousClock.now + .milliseconds((command.expires ?? .max) - now)
        return await withTaskGroup(of: (Int, ComponentOutcome).self) { group in
            for (position, component) in command.components.enumerated() {
                // In the order asked for, so that a phone is likely to show the notification first.
                group.addImmediateTask {
                    let result = await send(component, of: command, before: expiry, by: deadline)
                    return (position, ComponentOutcome(component: component, result: result))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func send(
        _ component: Component, of command: RelayMessage, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> Result<String, ComponentError> {
        let draft = command.draft
        if let error = await pacer.turn(
            for: draft.topicKey, isAlert: draft.distribution == .alert, by: min(expiry, deadline))
        {
            return .failure(error)
        }
        // Made now: what is left of its time is counted from now.
        let result = await sender.send(FCMMessage(component, of: command, now: now()), before: expiry, by: deadline)
        if case .failure(let error) = result { pacer.learn(from: error, about: draft.topicKey) }
        return result
    }

    private func deadline(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { max($0, now) - now - Self.timeForAnswer } ?? Self.longestTime
        return .now + .milliseconds(min(remaining, Self.longestTime))
    }

    /// One line a component. Never the message's text.
    private func report(_ outcomes: [ComponentOutcome], of command: RelayMessage, to context: CommandContext) {
        for outcome in outcomes {
            var metadata: Logger.Metadata = [
                "msi_key": "\(command.msiKey)", "component": "\(outcome.component.rawValue)",
            ]
            switch outcome.result {
            case .success(let name):
                metadata["name"] = "\(name)"
                context.logger.debug("accepted by FCM", metadata: metadata)
            case .failure(let error):
                metadata["class"] = "\(error.class.rawValue)"
                metadata["code"] = "\(error.code)"
                metadata["error"] = "\(error.message)"
                context.logger.warning("not accepted by FCM", metadata: metadata)
            }
        }
    }
}
