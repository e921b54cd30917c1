import CommandBus
import FCM
import JSON
import Logging
import Schemas

/// Answers `message.relay`: sends the components that are asked for, and says what became of each.
struct RelayHandler: Sendable {
    let projects: Projects
    let limit: PayloadLimit
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds

    /// - Throws: ``CommandFailure`` for a project that is not configured or that has too much to do, and if no project can
    ///   send.
    func relay(_ command: RelayMessage, _ context: CommandContext) async throws(CommandFailure) -> RelayMessage.Reply {
        let now = now()
        reportBegin(of: command, to: context)
        let project = try projects.project(command.project, for: command.draft.topicKey)
        let outcomes: [ComponentOutcome]
        if let refusal = refusal(of: command, now: now) {
            outcomes = command.components.map { ComponentOutcome(component: $0, result: .failure(refusal)) }
        } else {
            try projects.checkCircuit(of: project, isKnown: project.knows(command))
            let deadline = CommandDeadline.instant(of: context, now: now)
            outcomes = try await project.underWay { await send(command, by: project, now: now, deadline: deadline) }
        }
        await report(outcomes, of: command, to: context)
        return RelayMessage.Reply(components: outcomes)
    }

    // These, and some in the senders, are kept out of line: inlined, their locals would lie in the frame of a function that waits
    // for FCM, and so in memory a thousand times.

    @inline(never)
    private func reportBegin(of command: RelayMessage, to context: CommandContext) {
        guard context.logs(.debug) else { return }
        context.logger.debug(
            "taken up",
            metadata: [
                "msi_key": "\(command.msiKey)", "components": "\(command.components.map(\.rawValue).joined(separator: " "))",
            ])
    }

    /// Why a message is not even tried, or `nil`.
    @inline(never)
    private func refusal(of command: RelayMessage, now: UnixMilliseconds) -> ComponentError? {
        if let expires = command.expires, expires <= now {
            return .expired
        }
        // Of an Alert, a notification alone would call up a message that never comes: both or none.
        if let violation = limit.violation(by: command) {
            return ComponentError(.payloadTooLarge, violation.problem)
        }
        return nil
    }

    private func send(
        _ command: RelayMessage, by project: Project, now: UnixMilliseconds, deadline: ContinuousClock.Instant
    ) async -> [ComponentOutcome] {
        let expiry = ContinuousClock.now + .milliseconds((command.expires ?? .max) - now)
        return await project.send(command, before: expiry, by: deadline, now: self.now)
    }

    /// One line a component. Never the message's text.
    private func report(_ outcomes: [ComponentOutcome], of command: RelayMessage, to context: CommandContext) async {
        if context.logs(.debug) { reportAccepted(outcomes, of: command, to: context) }
        let hasFailures = outcomes.contains { outcome in
            if case .failure = outcome.result { true } else { false }
        }
        // When FCM is away these are many, and whoever reads the log may be slow: nothing for the thread of all requests.
        if hasFailures { await onSharedThreads { reportFailures(outcomes, of: command, to: context) } }
    }

    @inline(never)
    private func reportAccepted(_ outcomes: [ComponentOutcome], of command: RelayMessage, to context: CommandContext) {
        for outcome in outcomes {
            guard case .success(let name) = outcome.result else { continue }
            context.logger.debug(
                "accepted by FCM",
                metadata: ["msi_key": "\(command.msiKey)", "component": "\(outcome.component.rawValue)", "name": "\(name)"])
        }
    }

    @inline(never)
    private func reportFailures(_ outcomes: [ComponentOutcome], of command: RelayMessage, to context: CommandContext) {
        for outcome in outcomes {
            guard case .failure(let error) = outcome.result else { continue }
            context.logger.warning(
                "not accepted by FCM",
                metadata: [
                    "msi_key": "\(command.msiKey)", "component": "\(outcome.component.rawValue)",
                    "class": "\(error.class.rawValue)", "code": "\(error.code)", "error": "\(error.message)",
                ])
        }
    }
}
