import Bus
import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import FCMRelay

/// The sends of the relay's executable, checked by the emulator.
@Suite("The relay beside the emulator", .timeLimit(.minutes(10)))
struct DeliveryTests {
    private static func message(
        _ distribution: Distribution = .alert, options: DeliveryOptions? = nil, target: RelayTarget = .topic,
        validateOnly: Bool = false, channel: ObjectID = ObjectID(), components: [Component]? = nil
    ) -> RelayMessage {
        RelayMessage(
            msiKey: ObjectID(), timestamp: .now,
            content: MessageContent(
                title: "Storm", desc: "Stay at home", message: "The campus is closed.",
                topicKey: TopicKey(channel: channel, area: ObjectID(), subject: ObjectID()), distribution: distribution,
                options: options),
            components: components, target: target, validateOnly: validateOnly)
    }

    private static func expectAccepted(_ outcomes: [ComponentOutcome], _ count: Int) {
        #expect(outcomes.count == count)
        for outcome in outcomes {
            if case .failure(let error) = outcome.result { Issue.record("\(outcome.component): \(error)") }
        }
    }

    @Test("Every option reaches FCM in its place, and is valid there")
    func options() async throws {
        try await withRelayBesideEmulator { relay in
            let message = Self.message(
                options: DeliveryOptions(
                    image: "https://cdn.test/storm.png", link: "https://campus.test/storm", collapseKey: "storm",
                    analyticsLabel: "storm-2026",
                    android: .init(channelID: "alerts"), apns: .init(category: "ALERT")))
            Self.expectAccepted(try await relay.relay(message), 2)
            let sent = try await relay.accepted(message).compactMap { $0["message"] }
            let notification = try #require(sent.first { $0["notification"] != nil })
            let data = try #require(sent.first { $0["notification"] == nil })
            #expect(notification["notification"]?["image"] == "https://cdn.test/storm.png")
            #expect(notification["android"]?["notification"]?["channel_id"] == "alerts")
            #expect(notification["android"]?["collapse_key"] == "storm")
            #expect(notification["apns"]?["payload"]?["aps"] == ["sound": "default", "category": "ALERT", "mutable-content": 1])
            #expect(notification["apns"]?["fcm_options"] == ["image": "https://cdn.test/storm.png"])
            #expect(notification["apns"]?["headers"]?["apns-collapse-id"] == "storm")
            // Each component has its own key. Otherwise one would replace the other.
            #expect(data["android"]?["collapse_key"] == "storm.data")
            #expect(data["apns"]?["payload"]?["aps"] == ["content-available": 1])
            #expect(data["android"]?["notification"] == nil)
            #expect(data["data"]?["link"] == "https://campus.test/storm" && notification["data"]?["link"] == nil)
            for component in sent { #expect(component["fcm_options"] == ["analytics_label": "storm-2026"]) }
        }
    }

    @Test("A message goes to one phone by its token, to the phones of a condition, or to no phone in a dry run")
    func targets() async throws {
        try await withRelayBesideEmulator { relay in
            let token = try await relay.registerPhone()
            let toPhone = Self.message(target: .token(token))
            Self.expectAccepted(try await relay.relay(toPhone), 2)
            for body in try await relay.accepted(toPhone) {
                #expect(body["message"]?["token"]?.string == token)
                #expect(body["message"]?["topic"] == nil)
            }
            let byCondition = Self.message(.information, target: .condition("'a' in topics && !('b' in topics)"))
            Self.expectAccepted(try await relay.relay(byCondition), 1)
            #expect(
                try await relay.accepted(byCondition).first?["message"]?["condition"] == "'a' in topics && !('b' in topics)")

            let unknown = try await relay.relay(Self.message(.information, target: .token("gone")))
            let error = try #require(unknown.first?.result.failure)
            #expect(error.class == .permanent)

            let check = Self.message(validateOnly: true)
            Self.expectAccepted(try await relay.relay(check), 2)
            #expect(try await relay.accepted(check).isEmpty)
        }
    }

    @Test("Phones are subscribed to a topic, and unsubscribed, with a result for each")
    func topics() async throws {
        try await withRelayBesideEmulator { relay in
            let tokens = [try await relay.registerPhone(), "no token", try await relay.registerPhone()]
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let phones = TopicPhones(topicKey: topic, tokens: tokens)
            func list(_ token: String) async throws -> ListTopics.Reply {
                try await relay.client.request(ListTopics(token: token), timeout: .seconds(60))
            }
            let subscribed = try await relay.client.request(SubscribePhones(phones), timeout: .seconds(60))
            #expect(subscribed.results.map { $0.error?.code } == [nil, "INVALID_ARGUMENT", nil])
            #expect(subscribed.results[1].error?.class == .permanent)
            #expect(try await relay.topics(of: tokens[0]) == [topic.description])
            #expect(try await list(tokens[0]).topics == [topic.description])
            #expect(try await relay.topics(of: tokens[2]) == [topic.description])
            let removed = try await relay.client.request(
                UnsubscribePhones(TopicPhones(topicKey: topic, tokens: [tokens[0]])), timeout: .seconds(60))
            #expect(removed.results == [.init()])
            #expect(try await list(tokens[0]).topics == [])
            for token in ["gone", tokens[0] + "0"] {
                let failure = await relay.client.failure(of: ListTopics(token: token))
                #expect(failure?.status == .notFound && failure?.field == "token", "\(String(describing: failure))")
            }
            for token in ["", "../v1/projects", "a?b", "a/b", "ä", String(repeating: "a", count: 1_025)] {
                let failure = await relay.client.failure(of: ListTopics(token: token))
                #expect(failure?.status == .invalid && failure?.field == "token")
            }
            // The next POST over the same handle is a POST again.
            let again = try await relay.client.request(SubscribePhones(phones), timeout: .seconds(60))
            #expect(again.results.first == .init())
            _ = try await relay.client.request(
                UnsubscribePhones(TopicPhones(topicKey: topic, tokens: [tokens[0]])), timeout: .seconds(60))
            #expect(try await relay.topics(of: tokens[0]) == [])
            #expect(try await relay.topics(of: tokens[2]) == [topic.description])

            for count in [0, 1_001] {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await relay.client.request(
                        SubscribePhones(TopicPhones(topicKey: topic, tokens: Array(repeating: "t", count: count))),
                        timeout: .seconds(60))
                }
                #expect(failure?.status == .invalid)
                #expect(failure?.field == "tokens")
            }
            let most = TopicPhones(topicKey: topic, tokens: Array(repeating: tokens[0], count: 1_000))
            let results = try await relay.client.request(SubscribePhones(most), timeout: .seconds(60)).results
            #expect(results == Array(repeating: .init(), count: 1_000))
        }
    }

    @Test("Each channel's messages reach its own project, and an unreachable project does not delay others")
    func projects() async throws {
        try await withTemporaryFolder { other in
            let library = ObjectID()
            try await withEmulator(in: other) { otherPort in
                try await withRelayBesideEmulator(settings: { folder, _ in
                    let certificates = try ["\(folder)/ca.pem", "\(other)/fcm-emulator/ca.pem"].map {
                        try String(contentsOf: URL(filePath: $0), encoding: .utf8)
                    }
                    try certificates.joined().write(toFile: "\(other)/both.pem", atomically: true, encoding: .utf8)
                    let projects = """
                        {"projects":[{"project":"library","endpoint":"https://127.0.0.1:\(otherPort)","channels":["\(library)"],
                         "service_account_file":"\(other)/fcm-emulator/service-account.json","quota":600}]}
                        """
                    try projects.write(toFile: "\(other)/projects.json", atomically: true, encoding: .utf8)
                    return [
                        "MSI_FCM_SERVICE_ACCOUNT_FILE": "\(folder)/service-account.json",
                        "MSI_FCM_CA_FILE": "\(other)/both.pem", "MSI_FCM_PROJECTS_FILE": "\(other)/projects.json",
                    ]
                }) { relay in
                    let (campusMessage, libraryMessage) = (Self.message(.information), Self.message(channel: library))
                    Self.expectAccepted(try await relay.relay(campusMessage), 1)
                    Self.expectAccepted(try await relay.relay(libraryMessage), 2)
                    #expect(try await relay.accepted(campusMessage).count == 1)
                    #expect(try await relay.accepted(libraryMessage).isEmpty)
                    try await withHTTPClient(trusting: "\(other)/fcm-emulator/ca.pem") { http in
                        let fcm = FCMServer(port: otherPort, folder: "\(other)/fcm-emulator", http: http)
                        #expect(try await fcm.acceptedSends(to: libraryMessage.content.topicKey.description).count == 2)
                        let fault: JSONValue = ["rules": [["fault": "DELAY", "fixed_ms": 60_000]]]
                        let ordered = try await fcm.call(.PUT, "/emulator/faults", body: fault.data)
                        #expect(ordered.status == 200)
                    }
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        let client = relay.client
                        for _ in 0..<50 {
                            group.addTask {
                                // The test does not wait for the answers.
                                _ = try? await client.request(Self.message(channel: library), timeout: .seconds(3))
                            }
                        }
                        for _ in 0..<20 { Self.expectAccepted(try await relay.relay(Self.message()), 2) }
                        group.cancelAll()
                    }
                }
            }
        }
    }
}
