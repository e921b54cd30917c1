import Bus
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
        var failure: CommandFailure?
        for (position, project) in candidates.enumerated() {
            let now = ContinuousClock.now
            // A project that does not answer leaves time for the others.
            let end = now + now.duration(to: deadline) / (candidates.count - position)
            do throws(CommandFailure) {
                return ListTopics.Reply(topics: try await project.list(command.token, by: end).sorted())
            } catch {
                // The failure of the first project that may know the phone says more than that others do not know it.
                if failure == nil || failure?.status == .notFound { failure = error }
            }
        }
        throw failure ?? .unknownPhone
    }
}

extension Project {
    fileprivate func list(_ token: String, by deadline: ContinuousClock.Instant) async throws(CommandFailure) -> [String] {
        switch try await withinLimit({ await topics(of: token, by: deadline) }) {
        case .success(let topics): return topics
        case .failure(let error) where error.meansUnknownPhone: throw .unknownPhone
        case .failure(let error):
            throw CommandFailure(.unavailable, "\(error.code): \(error.message)", retryAfter: error.retryAfter)
        }
    }
}

extension CommandFailure {
    fileprivate static let unknownPhone = CommandFailure(.notFound, "FCM knows no phone with this token", field: "token")
}

extension DeliveryError {
    /// Whether the topic service does not know the phone in this project. A 403 says nothing about the phone: the service account may
    /// not ask.
    fileprivate var meansUnknownPhone: Bool {
        switch catalogued {
        case .invalidArgument, .notFound, .unregistered, .senderIDMismatch: true
        case nil: code == "HTTP_400" || code == "HTTP_404"
        default: false
        }
    }
}
