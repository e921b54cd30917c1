import CommandBus
import Logging
import Schemas

/// Answers `topic.subscribe`, `topic.unsubscribe` and `topic.list`.
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

    /// The topics of a phone, in the project that knows it.
    func list(_ command: ListTopics, _ context: CommandContext) async throws -> ListTopics.Reply {
        let deadline = CommandDeadline.instant(of: context, now: .now)
        let candidates = try command.project.map { [try projects.project($0, for: nil)] } ?? projects.all
        var failure: DeliveryError?
        for project in candidates {
            let result = try await project.withinLimit { () async -> Result<[String], DeliveryError> in
                do throws(DeliveryError) {
                    return .success(try await project.topics(of: command.token, by: deadline))
                } catch {
                    return .failure(error)
                }
            }
            switch result {
            case .success(let topics): return ListTopics.Reply(topics: topics.sorted())
            // The failure of the first project that may know the phone says more than that others do not know it.
            case .failure(let error): failure = failure?.class == .retryable ? failure : error
            }
        }
        throw CommandFailure(listing: failure)
    }
}

extension CommandFailure {
    /// Why no project has given the topics of a phone.
    fileprivate init(listing error: DeliveryError?) {
        guard let error, error.class == .retryable || error.code == RelayErrorCode.noServiceAccount.rawValue else {
            self.init(.notFound, "FCM knows no phone with this token", field: "token")
            return
        }
        self.init(.unavailable, "\(error.code): \(error.message)")
    }
}
