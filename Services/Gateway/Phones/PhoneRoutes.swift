import Bus
import FoundationEssentials
import HTTPTypes
package import Base
import Logging
import NIOCore
package import Schemas
import ServiceKit
import ServiceLifecycle

/// What students' phones ask, without a sign-in.
struct PhoneRoutes: Feature {
    private let messageLog: CommandClient
    private let relay: CommandClient
    private let running: RunningApps
    private let accepted: AcceptedMessages
    /// What ``accepted`` does not answer.
    private let missed: SharedAnswers
    /// Each question about a phone's topics is at least one to Google.
    private let topicTurns = FairSemaphore(maxRunning: 8, maxWaiting: 1_000, maxWait: .seconds(5), refusal: Self.tooManyPhones)
    private static let tooManyPhones = "too many phones ask at once; try again later"

    init(messageLog: CommandClient, relay: CommandClient, running: RunningApps, logger: Logger) {
        self.messageLog = messageLog
        self.running = running
        accepted = AcceptedMessages(messageLog: messageLog, logger: logger)
        self.relay = relay
        // Phones are patient, and posts that go to the same service are not.
        let turns = FairSemaphore(maxRunning: 2, maxWaiting: 1_000, maxWait: .seconds(5), refusal: Self.tooManyPhones)
        missed = SharedAnswers { body, caller in
            let command = try JSONCoder.decodeStrictly(ReadAccepted.self, from: body)
            let client = caller.address.flatMap { IPAddress($0) }
            let reply = try await turns.take(for: client) { try await messageLog.request(command, context: caller) }
            return try JSONCoder.encode(reply)
        }
    }

    var section: APISection {
        APISection(
            "Phones",
            "For the students' app, without a sign-in. No Firebase credential is on a phone: the hub asks FCM. Phones also read "
                + "`GET /channel`, with `If-None-Match`. Many phones ask at once; they should spread their requests.")
    }

    var background: [any Service] { [accepted] }

    var routes: [Route] {
        [
            Route(.post, "/message/since", right: .anonymous, body: ReadAccepted.self, answer: .ok(ReadAccepted.Reply.self)) {
                call in
                let body = try await RequestBody.collect(from: call.request)
                let command = try JSONCoder.decodeStrictly(ReadAccepted.self, from: Data(body.readableBytesView))
                running.asked(for: command.topics)
                if let json = await accepted.answer(to: command) { return Answer(json: json) }
                return Answer(json: try await missed.answer(to: body, for: call.caller))
            }.documented(
                "Fetch messages that FCM did not bring",
                """
                Without a sign-in: anyone who knows a topic key can read its messages. `messages` are those of the topics whose data \
                FCM has accepted within the last eight days, in acceptance order, at most 100. `after` is the `next` of the \
                previous answer; it may go back a little. There are more until an answer has fewer than 100 messages. A message may \
                come twice, and none is left out: keep those whose `msi_key` is new. The answer may be a moment old. `waiting`, if \
                there are any, are Alerts of which FCM has accepted nothing within `MSI_ALERT_FETCH_DELAY` seconds: show them at once. \
                They do not move `next`, and come again by FCM and in `messages` once FCM has accepted them. `recalled`, if there are \
                any, are the `msi_key`s of Alerts that were recalled before that: remove them, however they came, and show no later \
                copy. Both are beside the last page only.
                """
            ).counted(as: .phones),
            Route(.post, "/receipt", right: .anonymous, body: AddReceipts.self, answer: .noContent) { call in
                _ = try await messageLog.request(try await call.body(), context: call.caller)
                return Answer()
            }.documented(
                "Report received and opened messages",
                "`received` and `opened` are `msi_key`s, at most \(AddReceipts.maxMessages) together. `installation` is a random id that "
                    + "the app has made for itself; it names no person. `report` numbers the app's reports, from 1. After a lost answer the "
                    + "app repeats the report with its number: it counts once. Unknown messages are left out."
            ).counted(as: .receipts),
            Route(.post, "/phone/topics", right: .anonymous, body: PhoneToken.self, answer: .ok(ListTopics.Reply.self)) { call in
                let command = ListTopics(token: try await call.body().token)
                return Answer(
                    try await topicTurns.take(for: call.context.client) { try await relay.request(command, context: call.caller) }
                )
            }.documented(
                "Ask which topics a phone is subscribed to",
                "As FCM knows them. `token` is the phone's registration token.", problems: [.notFound]
            ).counted(as: .phoneTopics),
        ]
    }
}

/// The body of `POST /phone/topics`.
struct PhoneToken: Decodable, Checked, Sendable {
    /// A registration token.
    let token: String

    private enum CodingKeys: String, CodingKey {
        case token
    }

    func check() throws(SchemaViolation) {
        try ListTopics(token: token).check()
    }
}

// The documents of phones in the API's document.

extension AddReceipts: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        let keys: JSONValue = ["maxItems": .integer(Int64(maxMessages))]
        return ["properties": ["received": keys, "opened": keys]]
    }
}

extension ReadAccepted: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["topics": ["minItems": 1, "maxItems": .integer(maxTopics)]]]
    }
}
