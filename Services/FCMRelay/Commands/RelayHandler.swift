import Bus
import FCM
import Base
import Logging
import Schemas
import ServiceKit

/// Answers `message.relay`: sends the requested components, and returns an outcome for each.
struct RelayHandler: Sendable {
    let projects: Projects
    let limit: PayloadLimit
    /// The wall clock.
    let now: @Sendable () -> UnixMilliseconds

    /// - Throws: ``CommandFailure`` if the project is not configured or is overloaded, and if no project can send.
    func relay(_ command: RelayMessage, _ context: CommandContext) async throws(CommandFailure) -> RelayMessage.Reply {
        let now = now()
        reportBegin(of: command, to: context)
        let project = try projects.project(command.project, for: command.content.topicKey)
        let outcomes: [ComponentOutcome]
        if let refusal = refusal(of: command, now: now) {
            outcomes = command.components.map { ComponentOutcome(component: $0, result: .failure(refusal)) }
        } else {
            try projects.checkCircuit(of: project, isKnown: project.knows(command))
            let deadline = CommandDeadline.instant(of: context, now: now)
            outcomes = try await project.withinLimit { await send(command, by: project, now: now, deadline: deadline) }
        }
        await report(outcomes, of: command, to: context)
        return RelayMessage.Reply(components: outcomes)
    }

    // These functions, and some in the senders, are not inlined. Otherwise their locals would be part of the frame of a function
    // that waits for FCM, and so in memory a thousand times.

    @inline(never)
    private func reportBegin(of command: RelayMessage, to context: CommandContext) {
        guard context.logs(.debug) else { return }
        context.logger.debug(
            "taken up",
            metadata: [
                "msi_key": "\(command.msiKey)", "components": "\(command.components.map(\.rawValue).joined(separator: " "))",
            ])
    }

    /// Why a message is not sent at all, or `nil`.
    @inline(never)
    private func refusal(of command: RelayMessage, now: UnixMilliseconds) -> DeliveryError? {
        if let expires = command.expires, expires <= now {
            return .expired
        }
        // An Alert goes out with both components or not at all: a notification alone would announce a message that never comes. The
        // command for the data may follow later.
        if let violation = limit.violation(by: command.content, at: command.timestamp, to: command.target) {
            return DeliveryError(.payloadTooLarge, violation.problem)
        }
        return nil
    }

    private func send(
        _ command: RelayMessage, by project: Project, now: UnixMilliseconds, deadline: ContinuousClock.Instant
    ) async -> [ComponentOutcome] {
        let expiry = ContinuousClock.now + Duration((command.expires ?? .max) - now)
        return await project.send(command, before: expiry, by: deadline, now: self.now)
    }

    /// Logs one line for each component, without the message's text.
    private func report(_ outcomes: [ComponentOutcome], of command: RelayMessage, to context: CommandContext) async {
        if context.logs(.debug) { reportAccepted(outcomes, of: command, to: context) }
        let hasFailures = outcomes.contains { outcome in
            if case .failure = outcome.result { true } else { false }
        }
        // While FCM is unreachable these lines are many, and writing them may block. So they are not written on the bus thread.
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

extension CommandRouter {
    /// The commands of the FCM relay.
    static func relay(_ messages: RelayHandler, _ pushes: PushHandler, _ topics: TopicHandler) -> CommandRouter {
        var router = CommandRouter(parts: { messages.projects.health })
        router.on(RelayMessage.self, runs: .busThread) { command, context in try await messages.relay(command, context) }
        router.on(RelayPush.self, runs: .busThread) { command, context in try await pushes.relay(command, context) }
        router.on(SubscribePhones.self) { try await topics.perform(.subscribe, $0.phones, $1) }
        router.on(UnsubscribePhones.self) { try await topics.perform(.unsubscribe, $0.phones, $1) }
        router.on(ListTopics.self) { try await topics.list($0, $1) }
        router.on(WithdrawSends.self) { command, _ in
            WithdrawSends.Reply(withdrawn: topics.projects.all.reduce(0) { $0 + $1.messageGate.pacer.withdraw(command.key) })
        }
        router.on(ReadPace.self) { _, _ in RelayPace(projects: topics.projects.all.map(\.pace)) }
        return router
    }
}

/// The time by which a command must be answered.
enum CommandDeadline {
    /// - Parameter now: The wall clock, which the command's deadline refers to.
    static func instant(of context: CommandContext, now: UnixMilliseconds) -> ContinuousClock.Instant {
        let remaining = context.deadline.map { Duration(max($0, now) - now) - DeliveryTimes.relayReplyMargin }
        return .now + min(remaining ?? DeliveryTimes.maxRelayTime, DeliveryTimes.maxRelayTime)
    }
}
