import Bus
import Base
import Schemas
import Store
import TestSupport
import Testing
import WebPushStore

@testable import WebPush

/// The life of subscriptions, on both databases.
@Suite("Subscriptions", .timeLimit(.minutes(10)))
struct SubscriptionTests {
    private static let (exams, sports, canteen) = (TopicKey.new(), TopicKey.new(), TopicKey.new())
    private static let mozilla = "updates.push.services.mozilla.com"

    /// The subjects by which a fan-out finds a subscription.
    private static func topics(of id: ObjectID, in store: Storage) async throws -> Set<SubscribedTopic> {
        let all = try await store.page(of: WebPushStore.topics, limit: 1_000).documents.map(\.document)
        return Set(all.filter { $0.subscription == id })
    }

    private static func count<Document>(_ collection: Collection<Document>, in store: Storage) async throws -> Int {
        try await store.page(of: collection, limit: 1_000).documents.count
    }

    @Test("One proves itself, changes its subjects, and is removed", arguments: StoreKind.allCases)
    func life(kind: StoreKind) async throws {
        try await withWebPush(kind) { service, sender in
            let (subscriptions, store, browser) = (service.subscriptions, service.subscriptions.store, Browser())
            let command = browser.subscription(alerts: [Self.exams, Self.sports], information: [Self.sports], language: "ar")
            let reply = try await service.add(command, .sample())
            let stored = try #require(try await store.get(reply.id, from: WebPushStore.subscriptions))
            #expect(stored.document.secretHash != reply.secret.text && !stored.document.isProven)
            #expect(try await Self.topics(of: reply.id, in: store).isEmpty, "one that is not proven gets no messages")

            let request = try #require(sender.requests.first)
            let payload = try browser.payload(request)
            let code = try #require(payload["msi"]?["code"]?.string)
            #expect(
                payload["web_push"] == 8_030 && payload["notification"]?["lang"] == "ar"
                    && payload["notification"]?["dir"] == "rtl")
            #expect(payload["notification"]?["navigate"] == "https://hub.example.edu/app/")
            #expect(
                request.headers.contains("content-encoding: aes128gcm") && request.headers.contains { $0.hasPrefix("ttl: 3") })
            #expect(request.headers.contains { $0.hasPrefix("authorization: vapid t=") })

            func prove(_ code: String, secret: Secret = reply.secret) async throws {
                try await subscriptions.prove(ProveSubscription(id: reply.id, secret: secret, code: Secret(code)))
            }
            #expect(await status { try await prove("wrong") } == .invalid)
            #expect(await status { try await prove(code, secret: Secret("wrong")) } == .notFound)
            try await prove(code)
            try await prove(code)
            #expect(service.counts.proven == 1 && service.counts.subscriptions == 1)
            #expect(
                try await Self.topics(of: reply.id, in: store) == [
                    SubscribedTopic(Self.exams, .alert, of: reply.id, at: Self.mozilla),
                    SubscribedTopic(Self.sports, .alert, of: reply.id, at: Self.mozilla),
                    SubscribedTopic(Self.sports, .information, of: reply.id, at: Self.mozilla),
                ])

            func change(_ secret: Secret) async throws {
                try await subscriptions.change(
                    ChangeSubscription(
                        id: reply.id, secret: secret,
                        subjects: SubscribedSubjects(alerts: [Self.exams, Self.canteen, Self.exams], information: []),
                        language: "en"))
            }
            #expect(await status { try await change(Secret("wrong")) } == .notFound)
            try await change(reply.secret)
            try await change(reply.secret)
            #expect(
                try await Self.topics(of: reply.id, in: store) == [
                    SubscribedTopic(Self.exams, .alert, of: reply.id, at: Self.mozilla),
                    SubscribedTopic(Self.canteen, .alert, of: reply.id, at: Self.mozilla),
                ])
            #expect(try await store.get(reply.id, from: WebPushStore.subscriptions)?.language == "en")

            func remove(_ secret: Secret) async throws {
                try await subscriptions.remove(RemoveSubscription(id: reply.id, secret: secret))
            }
            #expect(await status { try await remove(Secret("wrong")) } == .notFound)
            try await remove(reply.secret)
            try await remove(reply.secret)
            #expect(try await Self.topics(of: reply.id, in: store).isEmpty)
            #expect(try await Self.count(WebPushStore.subscriptions, in: store) == 0)
            #expect(try await Self.count(WebPushStore.subjects, in: store) == 0)
            #expect(await status { try await change(reply.secret) } == .notFound)
            #expect(service.counts.subscriptions == 0 && service.counts.hosts.isEmpty)
        }
    }

    @Test("Who knows the id of one subscription knows nothing of others")
    func ids() async throws {
        try await withWebPush { service, sender in
            var ids: [ObjectID] = []
            for _ in 0..<3 { ids.append(try await service.subscribe(Browser(), sender)) }
            // The bytes that all other identifiers of a process have in common.
            #expect(Set(ids.map { Array($0.bytes[4..<9]) }).count == 3)
        }
    }

    @Test("A fan-out finds all hosts of a push service under one name")
    func serviceNames() async throws {
        let hosts = try PushHosts(operators: ["push.example.edu:8443"])
        try await withWebPush(hosts: hosts) { service, sender in
            for (host, name) in [
                ("wns2-by3p.notify.windows.com", "notify.windows.com"), ("wns2-am3p.notify.windows.com", "notify.windows.com"),
                ("push.example.edu:8443", "push.example.edu:8443"),
            ] {
                let browser = Browser()
                let command = browser.subscription(at: "https://\(host)/\(ObjectID())", alerts: [Self.exams])
                let reply = try await service.add(command, .sample())
                let payload = try browser.payload(try #require(sender.requests.last))
                let code = Secret(try #require(payload["msi"]?["code"]?.string))
                try await service.subscriptions.prove(ProveSubscription(id: reply.id, secret: reply.secret, code: code))
                let found = try await Self.topics(of: reply.id, in: service.subscriptions.store)
                #expect(found == [SubscribedTopic(Self.exams, .alert, of: reply.id, at: name)])
                #expect(service.counts.hosts.contains { $0.host == host && $0.subscriptions == 1 })
            }
        }
    }

    @Test("What is not proven ends after an hour; what is proven stays", arguments: StoreKind.allCases)
    func unproven(kind: StoreKind) async throws {
        try await withWebPush(kind) { service, sender in
            let store = service.subscriptions.store
            let proven = try await service.subscribe(Browser(), alerts: [Self.exams], sender)
            var earlier = service.subscriptions
            earlier.now = { .now - SubscriptionDocument.timeToProve }
            let browser = Browser()
            let command = browser.subscription(alerts: [Self.exams])
            let endpoint = try PushEndpoint(command.endpoint.text, allowed: PushHosts())
            let late = try await earlier.add(command, at: endpoint, key: ObjectID(), address: nil)
            let proof = ProveSubscription(id: late.document.id, secret: late.secret, code: late.code)
            #expect(await status { try await service.subscriptions.prove(proof) } == .notFound)
            try await store.removeExpired()
            #expect(try await Self.count(WebPushStore.subscriptions, in: store) == 1)
            #expect(try await Self.count(WebPushStore.subjects, in: store) == 1)
            #expect(try await store.get(proven, from: WebPushStore.subscriptions) != nil)
            #expect(service.counts.subscriptions == 2)
            try await service.subscriptions.recount()
            #expect(service.counts.subscriptions == 1 && service.counts.proven == 1)
            #expect(service.counts.hosts.map(\.host) == ["updates.push.services.mozilla.com"])
        }
    }

    @Test("A browser that subscribes again with its endpoint has one subscription", arguments: StoreKind.allCases)
    func sameEndpoint(kind: StoreKind) async throws {
        try await withWebPush(kind) { service, sender in
            let (store, browser) = (service.subscriptions.store, Browser())
            let command = browser.subscription(at: "https://fcm.googleapis.com/fcm/send/same", alerts: [Self.exams])
            var ids: [ObjectID] = []
            for _ in 0..<2 {
                let reply = try await service.add(command, .sample())
                let payload = try browser.payload(try #require(sender.requests.last))
                let code = Secret(payload["msi"]?["code"]?.string ?? "")
                try await service.subscriptions.prove(ProveSubscription(id: reply.id, secret: reply.secret, code: code))
                ids.append(reply.id)
            }
            #expect(try await Self.topics(of: ids[0], in: store).isEmpty)
            #expect(try await Self.topics(of: ids[1], in: store).count == 1)
            #expect(try await Self.count(WebPushStore.subscriptions, in: store) == 1)
            #expect(service.counts.subscriptions == 1 && service.counts.proven == 1)
            // A stranger who knows the endpoint cannot have any number of pushes sent to it.
            for _ in 0..<Subscriptions.maxUnprovenByEndpoint { _ = try await service.add(command, .sample()) }
            #expect(await status { _ = try await service.add(command, .sample()) } == .conflict)
            #expect(sender.requests.count == 2 + Subscriptions.maxUnprovenByEndpoint)
        }
    }

    @Test("The number of unproven subscriptions is limited by address and by push service, and the number of all")
    func limits() async throws {
        let limits = SubscriptionTally.Limits(subscriptions: 5, unprovenByAddress: 2, unprovenByService: 3)
        try await withWebPush(limits: limits) { service, sender in
            func add(_ address: String?, _ endpoint: String = "https://fcm.googleapis.com/fcm/send/\(ObjectID())") async
                -> ReplyStatus?
            {
                await status { _ = try await service.add(Browser().subscription(at: endpoint), .sample(from: address)) }
            }
            #expect(await add("2001:db8::1") == nil)
            #expect(await add("2001:db8::2") == nil)
            #expect(await add("2001:db8::3") == .overloaded, "it is the same customer's")
            #expect(await add("192.0.2.1") == nil)
            #expect(await add("192.0.2.2") == .overloaded, "the push service has its number")
            let other = "https://web.push.apple.com/"
            #expect(await add("192.0.2.2", other + "1") == nil)
            _ = try await service.subscribe(Browser(), sender)
            #expect(await add("192.0.2.3", other + "2") == .overloaded, "there are as many as there may be")
            #expect(service.counts.subscriptions == 5 && sender.requests.count == 5)
        }
    }

    @Test("A code that another instance has got counts after the next count")
    func provenElsewhere() async throws {
        try await withWebPush { service, sender in
            func counting() -> Subscriptions {
                Subscriptions(store: service.subscriptions.store, tally: SubscriptionTally(limits: .init(unprovenByAddress: 1)))
            }
            let (here, elsewhere) = (counting(), counting())
            func add() async throws -> ProveSubscription {
                let command = Browser().subscription()
                let endpoint = try PushEndpoint(command.endpoint.text, allowed: PushHosts())
                let added = try await here.add(command, at: endpoint, key: ObjectID(), address: "192.0.2.1")
                return ProveSubscription(id: added.document.id, secret: added.secret, code: added.code)
            }
            try await elsewhere.prove(try await add())
            #expect(await status { _ = try await add() } == .overloaded)
            try await here.recount()
            _ = try await add()
            try await here.recount()
            #expect(await status { _ = try await add() } == .overloaded, "this one is not proven")
        }
    }

    @Test("A first push that its service does not take now is sent again")
    func firstPushAgain() async throws {
        try await withWebPush { service, sender in
            let browser = Browser()
            sender.answer { _ in .failure(WebPushFailure(DeliveryError(.unavailable, "busy"))) }
            let reply = try await service.add(browser.subscription(), .sample())
            #expect(try await service.subscriptions.store.get(reply.id, from: WebPushStore.subscriptions) != nil)
            sender.answer { _ in .success("https://push.example/m/1") }
            let firstPushes = try service.requirePushing().firstPushes
            let running = Task { try await firstPushes.run() }
            try await eventually("it is sent again") { sender.requests.count == 2 }
            running.cancel()
            let codes = try sender.requests.map { try browser.payload($0)["msi"]?["code"]?.string }
            #expect(codes[0] != nil && codes[0] == codes[1])
        }
    }

    @Test("First pushes that fail are logged once for each push service, and those of an ended subscription are not")
    func firstPushLog() async throws {
        let log = RecordedLog()
        try await withWebPush(logger: log.logger) { service, sender in
            func add(at host: String = Self.mozilla) async {
                let command = Browser().subscription(at: "https://\(host)/\(ObjectID())")
                _ = await status { _ = try await service.add(command, .sample()) }
            }
            sender.answer { _ in .failure(WebPushFailure(DeliveryError(.unregistered), .gone)) }
            await add()
            #expect(log.louderThanDebug.isEmpty)
            sender.answer { _ in .failure(WebPushFailure(DeliveryError(.network, "no route"))) }
            for host in [Self.mozilla, Self.mozilla, "fcm.googleapis.com"] { await add(at: host) }
            #expect(log.louderThanDebug.count == 2 && log.louderThanDebug.allSatisfy { $0.contains("NETWORK: no route") })
            #expect(log.louderThanDebug.first?.contains(Self.mozilla) == true)
            sender.answer { _ in .success("https://push.example/m/1") }
            for _ in 0..<2 { await add() }
            #expect(log.louderThanDebug.count == 3 && log.louderThanDebug.last?.hasPrefix("over: ") == true)
        }
    }

    @Test("Without a contact nothing is pushed, and the failure names the setting")
    func withoutContact() async throws {
        try await withWebPush { complete, sender in
            let service = WebPush(
                subscriptions: complete.subscriptions, keys: complete.keys, hosts: complete.hosts, fanOut: complete.fanOut,
                ended: complete.ended, pushing: nil)
            let failure = await #expect(throws: CommandFailure.self) {
                try await service.add(Browser().subscription(), .sample())
            }
            #expect(failure?.status == .unavailable && failure?.message.contains("MSI_WEBPUSH_CONTACT") == true)
            #expect(service.health["contact"]?.isWell == false && sender.requests.isEmpty)
        }
    }
}
