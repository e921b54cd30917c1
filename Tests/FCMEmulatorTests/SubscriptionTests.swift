import Store
import Foundation
import GRDB
import NIOHTTP1
import Testing
import TestSupport

@testable import FCMEmulator

/// The topic-subscription API, and the Instance ID service's view of a phone's topics.
@Suite("Subscriptions") struct SubscriptionTests {
    private static func path(_ registration: String, _ rest: String = "") -> String {
        "/v1/projects/msi-emulator/registrations/\(registration)/topicSubscriptions\(rest)"
    }

    @Test("A phone is subscribed once, by its token or its installation ID, and gets what is sent") func create() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let installation = String(phone.split(separator: ":")[0])
            let made = try await client.call(.POST, Self.path(phone, "?topic_name=news"), token: "owner", "{}")
            #expect(made.status == 200)
            #expect(made.object["name"] as? String == "projects/msi-emulator/registrations/\(phone)/topicSubscriptions/news")
            #expect(made.object["topicName"] as? String == "news")
            let time = try #require(made.object["createTime"] as? String)
            #expect(abs(try Date(time, strategy: .iso8601).timeIntervalSinceNow) < 60)

            let again = try await client.call(.POST, Self.path(installation, "?topicName=news"), token: "owner", "{}")
            #expect(again.status == 409 && again.errorStatus == "ALREADY_EXISTS")
            let upserted = try await client.call(.PATCH, Self.path(phone, "/news?allowMissing=true"), token: "owner", "{}")
            #expect(upserted.object["createTime"] as? String == time)
            let missing = try await client.call(.PATCH, Self.path(phone, "/sport"), token: "owner", "{}")
            #expect(missing.status == 404 && missing.errorStatus == "NOT_FOUND")
            #expect(
                try await client.call(.PATCH, Self.path(installation, "/sport?allowMissing=true"), token: "owner").status == 200)
            #expect(try await client.call(.GET, Self.path(installation, "/sport"), token: "owner").status == 200)

            for topic in ["news", "sport"] { _ = try await client.sendMark(topic, to: ("topic", topic)) }
            let gone = try await client.call(.DELETE, Self.path(phone, "/news"), token: "owner")
            #expect(gone.status == 200 && gone.text == "{}")
            #expect(try await client.call(.DELETE, Self.path(phone, "/news"), token: "owner").status == 404)
            #expect(try await client.call(.DELETE, Self.path(phone, "/news?allowMissing=true"), token: "owner").text == "{}")
            #expect(try await client.call(.GET, Self.path(phone, "/news"), token: "owner").status == 404)
            _ = try await client.sendMark("late", to: ("topic", "news"))
            #expect(try await client.everything(for: phone) == ["news", "sport"])
        }
    }

    @Test("Subscriptions are listed page by page") func list() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let topics = ["a", "b%c", "d", "e", "f"]
            for topic in topics.reversed() { try await client.subscribe([phone], to: topic) }
            var found: [String] = []
            var query = "?pageSize=2"
            var pages = 0
            while pages < 5 {
                let page = try await client.call(.GET, Self.path(phone, query), token: "owner")
                let list = page.object["topicSubscriptions"] as? [[String: String]] ?? []
                found += list.compactMap { $0["topicName"] }
                pages += 1
                guard let next = page.object["nextPageToken"] as? String else { break }
                query = "?page_size=2&page_token=\(next.replacing("=", with: "%3D"))"
            }
            #expect(found == topics && pages == 3)
            let encoded = phone.replacing(":", with: "%3A")
            #expect(
                try await client.call(.GET, Self.path(encoded, "/b%25c"), token: "owner").object["topicName"] as? String == "b%c")
            #expect(try await client.call(.GET, Self.path(phone), token: "owner").object["nextPageToken"] == nil)
            for query in ["?pageSize=-1", "?pageSize=x", "?pageToken=%21"] {
                #expect(try await client.call(.GET, Self.path(phone, query), token: "owner").status == 400, "\(query)")
            }
        }
    }

    @Test("Requests that are not authorized, registered or well formed are refused") func refusals() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            #expect(try await client.call(.GET, Self.path(phone), token: nil).errorStatus == "UNAUTHENTICATED")
            let elsewhere = Self.path(phone).replacing("msi-emulator", with: "other")
            #expect(try await client.call(.GET, elsewhere, token: "owner").errorStatus == "PERMISSION_DENIED")
            for (registration, query, status) in [
                ("abcdefghijklmnopqrstuv", "?topic_name=t", 404), ("a:b", "?topic_name=t", 400), ("nobody", "?topic_name=t", 400),
                (phone, "", 400),
                (phone, "?topic_name=a%20b", 400),
            ] {
                let answer = try await client.call(.POST, Self.path(registration, query), token: "owner", "{}")
                #expect(answer.status == status, "\(registration) \(query)")
            }
            #expect(try await client.call(.POST, Self.path(phone, "?topic_name=t"), token: "owner", "{\"x\":1}").status == 400)
            #expect(try await client.call(.PUT, Self.path(phone), token: "owner").headers["Allow"] == ["GET, POST"])
        }
    }

    @Test("The Instance ID API subscribes one phone, and shows its topics") func instanceID() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let made = try await client.call(.POST, "/iid/v1/\(phone)/rel/topics/news", token: "owner")
            #expect(made.status == 200 && made.text == "{}")
            let info = try await client.call(.GET, "/iid/info/\(phone)?details=true", token: "owner")
            #expect(info.object["platform"] as? String == "ANDROID")
            #expect(info.object["authorizedEntity"] as? String == "103953800507")
            let topics = (info.object["rel"] as? [String: Any])?["topics"] as? [String: [String: String]]
            #expect(topics?["news"]?["addDate"]?.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil, "\(info.text)")
            #expect(try await client.call(.GET, "/iid/info/\(phone)", token: "owner").object["rel"] == nil)
            let unknown = try await client.call(.GET, "/iid/info/nobody", token: "owner")
            #expect(unknown.status == 404 && unknown.object["error"] is String)
            #expect(try await client.call(.POST, "/iid/v1/\(phone)/rel/topics/a%20b", token: "owner").status == 400)
            #expect(try await client.call(.GET, "/iid/info/\(phone)", token: nil).object["error"] is String)
        }
    }

    @Test("A phone can have two thousand topics, and no more") func tooMany() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let store = try EmulatorStore(path: "\(client.folder.emulator)/emulator.sqlite")
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1999)
                        INSERT INTO subscription (device, topic, after) SELECT 1, 't' || n, 0 FROM number
                        """)
            }
            try store.close()
            #expect(try await client.subscribe([phone], to: "last").text == #"{"results":[{}]}"#)
            #expect(try await client.subscribe([phone], to: "more").text == #"{"results":[{"error":"TOO_MANY_TOPICS"}]}"#)
            #expect(try await client.subscribe([phone], to: "last").text == #"{"results":[{}]}"#)
            let answer = try await client.call(.POST, Self.path(phone, "?topic_name=more"), token: "owner", "{}")
            #expect(answer.errorStatus == "RESOURCE_EXHAUSTED")
            let rel = try await client.call(.POST, "/iid/v1/\(phone)/rel/topics/more", token: "owner")
            #expect(rel.object["error"] as? String == "TOO_MANY_TOPICS")
            let all = try await client.call(.GET, Self.path(phone, "?pageSize=9999"), token: "owner")
            #expect((all.object["topicSubscriptions"] as? [Any])?.count == 2_000)
        }
    }
}
