import Bus
import Base
import Schemas
import Store
import Synchronization
import TestSupport
import Testing
import WebPushStore

@testable import WebPush

/// How blocks of subscriptions reach the push services.
@Suite("Blocks of pushes", .timeLimit(.minutes(10)))
struct BlockRelayTests {
    private static func push(to ids: [ObjectID], id: ObjectID = ObjectID(), expires: UnixMilliseconds? = nil) -> RelayPush {
        let content = MessageContent(title: "t", desc: "d", message: "m", topicKey: .new(), distribution: .alert)
        let message = FanOutMessage(msiKey: ObjectID(), timestamp: .now, content: content).webPushMessage
        return RelayPush(
            pushID: id, transport: .webpush, recipients: ids.map { .token($0.description) }, message: message.json,
            expires: expires ?? .now + .seconds(600))
    }

    private static func results(_ push: RelayPush, by service: WebPush) async throws -> [Result<String, DeliveryError>] {
        try await service.requirePushing().blocks.relay(push, .sample()).results.map(\.result)
    }

    @Test("Each browser gets the message with the address of its app, encrypted for it", arguments: StoreKind.allCases)
    func relayed(kind: StoreKind) async throws {
        try await withWebPush(kind) { service, sender in
            let browsers = (0..<70).map { _ in Browser() }
            var ids: [ObjectID] = []
            for (number, browser) in browsers.enumerated() {
                let app = number % 3 == 0 ? nil : "https://hub\(number % 3).example.edu/app/"
                ids.append(try await service.subscribe(browser, app: app, sender))
            }
            let before = sender.requests.count
            let push = Self.push(to: ids)
            let results = try await Self.results(push, by: service)
            #expect(results.count == 70 && results.allSatisfy { (try? $0.get()) != nil })
            let requests = sender.requests[before...]
            #expect(Set(requests.map(\.url)).count == 70)
            for (number, (browser, request)) in zip(browsers, requests).enumerated() {
                let payload = try browser.payload(request)
                let navigate = payload["notification"]?["navigate"]?.string ?? ""
                #expect(navigate.hasPrefix(number % 3 == 0 ? "#message/" : "https://hub\(number % 3).example.edu/app/#message/"))
                #expect(request.isUrgent && request.isProven && request.headers.contains("urgency: high"))
                #expect(request.headers.contains { $0.hasPrefix("ttl: 59") || $0 == "ttl: 600" })
                #expect(request.headers.contains { $0.hasPrefix("topic: ") })
            }
        }
    }

    @Test("A push to a person opens the app of the subscription at its link")
    func person() async throws {
        try await withWebPush { service, sender in
            let browser = Browser()
            let id = try await service.subscribe(browser, sender)
            let account = try #require(AccountName("ann"))
            let command = try LogPush(
                idempotencyKey: "k", accounts: [account], kind: .friendRequest, fairnessKey: "friends",
                message: PersonPush(id: "6b01", link: "#people/requests", texts: ["en": "You have a friend request"]),
                expires: .now + .seconds(600))
            let content = try #require(try StoredPersonPush(command))
            let push = RelayPush(
                pushID: ObjectID(), transport: .webpush, recipients: [.token(id.description)],
                message: content.webPush(in: nil).json, expires: command.expires)
            let results = try await Self.results(push, by: service)
            #expect(results.count == 1 && results.allSatisfy { (try? $0.get()) != nil })
            let payload = try browser.payload(try #require(sender.requests.last))
            #expect(payload["notification"]?["navigate"]?.string == "https://hub.example.edu/app/#people/requests")
            #expect(payload["msi"]?["kind"]?.string == "friend_request")
            #expect(payload["msi"]?["link"]?.string == "#people/requests")
        }
    }

    @Test("A repeated command sends only what was not accepted")
    func repeated() async throws {
        try await withWebPush { service, sender in
            var ids: [ObjectID] = []
            for _ in 0..<4 { ids.append(try await service.subscribe(Browser(), sender)) }
            let before = sender.requests.count
            let failures = Mutex(2)
            sender.answer { request in
                let fails = failures.withLock { failures in
                    failures -= 1
                    return failures >= 0
                }
                return fails ? .failure(WebPushFailure(DeliveryError(.unavailable, "busy"))) : .success(request.url)
            }
            let push = Self.push(to: ids)
            let first = try await Self.results(push, by: service)
            #expect(first.count { (try? $0.get()) == nil } == 2)
            async let second = Self.results(push, by: service)
            async let third = Self.results(push, by: service)
            let (one, other) = try await (second, third)
            #expect(one.allSatisfy { (try? $0.get()) != nil } && one == other)
            #expect(sender.requests.count == before + 6)
            // Another push to the same subscriptions.
            _ = try await Self.results(Self.push(to: ids), by: service)
            #expect(sender.requests.count == before + 10)
        }
    }

    @Test("A subscription that has ended is removed, and the message log learns that it has")
    func gone() async throws {
        try await withWebPush { service, sender in
            let topic = TopicKey.new()
            let (kept, ended) = (
                try await service.subscribe(Browser(), alerts: [topic], sender),
                try await service.subscribe(Browser(), alerts: [topic], sender)
            )
            let store = service.subscriptions.store
            let url = try await store.get(ended, from: WebPushStore.subscriptions)?.document.endpoint.text
            sender.answer { request in
                request.url == url
                    ? .failure(WebPushFailure(DeliveryError(.unregistered, "the subscription has ended"), .gone)) : .success("n")
            }
            let unknown = ObjectID()
            let results = try await Self.results(Self.push(to: [kept, ended, unknown]), by: service)
            #expect(results[0] == .success("n"))
            for result in results[1...] {
                guard case .failure(let error) = result else {
                    Issue.record("it was accepted")
                    continue
                }
                #expect(error.isUnregistered && error.class == .permanent)
            }
            try await service.ended.remove()
            #expect(try await store.get(ended, from: WebPushStore.subscriptions) == nil)
            #expect(try await store.get(kept, from: WebPushStore.subscriptions) != nil)
            #expect(try await store.page(of: WebPushStore.topics, limit: 10).documents.map(\.document.subscription) == [kept])
            #expect(service.counts.subscriptions == 1)
        }
    }

    @Test("A subscription with a removed key of the hub ends, and nothing is sent to it")
    func removedKey() async throws {
        try await withWebPush { service, sender in
            let id = try await service.subscribe(Browser(), sender)
            let before = sender.requests.count
            _ = try await service.keys.rotate(forgetting: true)
            let results = try await Self.results(Self.push(to: [id]), by: service)
            guard case .failure(let error) = results[0] else { throw TooLate("it was accepted") }
            #expect(error.isUnregistered && sender.requests.count == before)
            try await service.ended.remove()
            #expect(try await service.subscriptions.store.get(id, from: WebPushStore.subscriptions) == nil)
        }
    }

    @Test("What has expired is not sent, and a push of another form is refused")
    func refused() async throws {
        try await withWebPush { service, sender in
            let id = try await service.subscribe(Browser(), sender)
            let before = sender.requests.count
            let expired = try await Self.results(Self.push(to: [id], expires: .now - .seconds(1)), by: service)
            guard case .failure(let error) = expired[0] else { throw TooLate("it was accepted") }
            #expect(error.class == .expired)
            let pushes = [
                RelayPush(pushID: ObjectID(), recipients: [.token(id.description)], message: ["data": [:]]),
                RelayPush(
                    pushID: ObjectID(), transport: .webpush, recipients: [.topic("t")], message: Self.push(to: [id]).message),
                RelayPush(pushID: ObjectID(), transport: .webpush, recipients: [.token(id.description)], message: ["payload": 1]),
            ]
            for push in pushes { #expect(await status { _ = try await Self.results(push, by: service) } == .invalid) }
            #expect(sender.requests.count == before)
        }
    }
}
