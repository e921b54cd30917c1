import CommandBus
import Logging
import Schemas

/// Answers `topic.subscribe` and `topic.unsubscribe`.
struct TopicHandler: Sendable {
    let projects: Projects

    func perform(_ change: TopicChange, _ phones: TopicPhones, _ context: CommandContext) async throws -> TopicResults {
        let project = try projects.project(phones.project, for: phones.topicKey)
        let deadline = CommandDeadline.instant(of: context, now: .now)
        return try await project.withinLimit {
            let results = await project.perform(change, phones, by: deadline)
            context.logger.debug(
                "changed subscriptions",
                metadata: [
                    "change": "\(change)", "topic": "\(phones.topicKey)", "phones": "\(results.count)",
                    "failed": "\(results.count { $0.error != nil })",
                ])
            return TopicResults(results: results)
        }
    }
}
