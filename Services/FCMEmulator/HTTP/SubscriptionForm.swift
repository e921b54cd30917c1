import FCM
import FoundationEssentials
import Base
import Schemas

extension FCMForm {
    /// The body of a request that creates a subscription.
    static let topicSubscription = FCMForm(
        "google.firebase.fcm.v1.TopicSubscription", ["name": .string, "topic_name": .string, "create_time": .timestamp])
}

extension EmulatorStore.Subscription {
    /// The subscription in the topic-subscription API's form.
    func document(project: String, registration: String) -> JSONValue {
        [
            "name": .string("projects/\(project)/registrations/\(registration)/topicSubscriptions/\(topic)"),
            "topicName": .string(topic), "createTime": .string(date.formatted(.iso8601)),
        ]
    }

    /// The start date in the Instance ID service's form, without a time.
    var addDate: String {
        date.formatted(.iso8601.year().month().day())
    }

    private var date: Date { Date(created) }
}

/// The cursor of a list of subscriptions, which the client returns for the next page.
enum PageToken {
    static func after(_ topic: String) -> String { Data(topic.utf8).base64EncodedString() }

    /// - Throws: ``GoogleError`` for an invalid token.
    static func topic(of token: String?) throws -> String {
        guard let token, !token.isEmpty else { return "" }
        guard let data = Data(base64Encoded: token), let topic = String(validating: data, as: UTF8.self),
            TopicCondition.isTopicName(topic)
        else { throw GoogleError.invalidArgument("Invalid page token: \(token.prefix(100))") }
        return topic
    }
}
