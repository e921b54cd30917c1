import Bus
import HTTPTypes
import Base
import Schemas
import ServiceKit

/// How many phones a message would reach, over HTTP.
struct ReachRoutes: Feature {
    let cube: CubeService
    let messageLog: CommandClient
    let running: RunningApps
    let askAbove: LiveSetting<Int>

    var section: APISection {
        APISection(
            "Reach",
            "How many phones a message to a subject would reach. FCM tells nobody who is subscribed, so this is what the hub knows from "
                + "phones' reports and questions.")
    }

    var routes: [Route] {
        [
            Route(.get, "/reach", right: .signedIn, query: ReachQuery.self, answer: .ok(Reach.self), read)
                .documented(
                    "Estimate the reach of a subject",
                    "It requires the right `read` or `send`. A subject that the caller may not send to is 404. `phones` says how many phones "
                        + "the hub knows of, and `sure` how good that number is.",
                    problems: [.notFound])
        ]
    }

    private func read(_ call: Call<NoBody>, _ query: ReachQuery) async throws -> Answer<Reach> {
        let principal = call.principal
        if !principal.has(.send) { try principal.require(.read) }
        guard let subject = try await cube.subject(of: query.topic)?.subject,
            try await cube.maySend(principal, to: query.topic)
        else { throw Problem(.notFound, "topic: no subject has the topic key \(query.topic)", field: "topic") }
        let known = try await messageLog.request(ReadReach(topicKey: query.topic), context: call.caller)
        return Answer(
            Reach(of: subject, known, running: running.count(of: query.topic), askAbove: askAbove.value, at: .now))
    }
}

/// The parameters of `GET /reach`.
struct ReachQuery: Decodable, Sendable {
    let topic: TopicKey

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topic
    }
}

extension ReachQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        ["properties": ["topic": ["description": "The subject's `topic_key`."]]]
    }
}

/// How many phones a message to a subject would reach, as far as the hub knows.
struct Reach: Codable, Hashable, Sendable {
    /// How sure ``phones`` is.
    enum Certainty: String, ClosedEnum {
        /// At least this many phones have received an earlier message of the subject within ``ReadReach/recency``.
        case reported
        /// From older receipts, or from the numbers of installed and running apps.
        case estimated
        /// The hub knows nothing of the subject's phones.
        case unknown
    }

    let topicKey: TopicKey
    let phones: Int64?
    let sure: Certainty
    /// The message whose receipts were counted for ``phones``, and when it was sent; `nil` if ``phones`` is another number.
    let message: ObjectID?
    let at: UnixMilliseconds?
    let installations: Int
    let running: Int
    let askAbove: Int

    private enum CodingKeys: String, CodingKey {
        case phones, sure, message, at, installations, running
        case topicKey = "topic_key"
        case askAbove = "ask_above"
    }

    /// - Parameters:
    ///   - known: What the archive knows.
    ///   - running: About how many running apps ask for the subject's messages.
    ///   - askAbove: Above this reach, portals ask before they send.
    init(of subject: Subject, _ known: ReadReach.Reply, running: Int, askAbove: Int, at now: UnixMilliseconds) {
        // All apps are subscribed to a Forced subject, and to a Recommended one unless their students have left it.
        let hasAll = subject.opt.level == .forced || subject.opt.level == .recommended && known.counted == nil
        let others = Int64(hasAll ? max(known.installations, running) : running)
        let counted = known.counted.flatMap { $0.received >= others ? $0 : nil }
        let phones = counted?.received ?? others
        let isRecent = counted.map { $0.timestamp >= now - ReadReach.recency } ?? false
        topicKey = subject.topicKey
        self.phones = phones > 0 ? phones : nil
        sure = phones == 0 ? .unknown : isRecent ? .reported : .estimated
        message = counted?.msiKey
        at = counted?.timestamp
        installations = known.installations
        self.running = running
        self.askAbove = askAbove
    }
}

extension Reach: HasExample {
    static var example: Reach {
        Reach(
            of: .example,
            ReadReach.Reply(
                counted: ReceivedMessage(msiKey: TopicKey.exampleTopic.subject, timestamp: .exampleTime, received: 2_040),
                installations: 2_031),
            running: 120, askAbove: 1_000, at: .exampleTime)
    }
}

extension Reach: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "phones": ["description": "The number of phones; absent if it is unknown."],
                "sure": [
                    "description": """
                    `reported`: at least so many phones have received an earlier message of the subject within 30 days. `estimated`: \
                    from numbers that say less about today's subscriptions. `unknown`: there is no number.
                    """
                ],
                "message": [
                    "description": "The `msi_key` of the message whose receipts `phones` is; absent if it is another number."
                ],
                "at": ["description": "When that message was sent."],
                "installations": ["description": "How many installations of the app have reported within nine days."],
                "running": ["description": "About how many running apps ask this gateway for the subject's messages."],
                "ask_above": ["description": "Above this reach, portals ask before they send (`MSI_GATEWAY_ASK_ABOVE`)."],
            ]
        ]
    }
}
