import FoundationEssentials
import Schemas

extension MessageForm {
    /// The body of a request that makes a subscription.
    static let topicSubscription = MessageForm(
        "google.firebase.fcm.v1.TopicSubscription", ["name": .string, "topic_name": .string, "create_time": .timestamp])
}

extension EmulatorStore.Subscription {
    /// As the topic-subscription API shows it.
    func document(project: String, registration: String) -> JSONValue {
        [
            "name": .string("projects/\(project)/registrations/\(registration)/topicSubscriptions/\(topic)"),
            "topicName": .string(topic), "createTime": .string(date.formatted(.iso8601)),
        ]
    }

    /// As the Instance ID service shows it: to the day.
    var addDate: String {
        date.formatted(.iso8601.year().month().day())
    }

    private var date: Date { Date(timeIntervalSince1970: TimeInterval(created) / 1_000) }
}

/// Where a page of subscriptions begins, as a client hands it back.
enum PageToken {
    static func after(_ topic: String) -> String { Data(topic.utf8).base64EncodedString() }

    /// - Throws: ``GoogleError`` for a token that never was one.
    static func topic(of token: String?) throws -> String {
        guard let token, !token.isEmpty else { return "" }
        guard let data = Data(base64Encoded: token), let topic = String(validating: data, as: UTF8.self), TopicName.isValid(topic)
        else { throw GoogleError.invalidArgument("Invalid page token: \(token.prefix(100))") }
        return topic
    }
}
