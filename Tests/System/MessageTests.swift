import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The way of a message from a portal to a phone.
    @Suite("Messages")
    struct MessageTests {
        let stack: Stack
        let portal: Portal

        init() throws {
            stack = try SharedStack.current
            portal = stack.portal
        }

        /// Texts that break careless code. The last two are not titles.
        static let texts = [
            "Closed today", #"She said "no", twice\n, {"a":[1]} \u0041"#, "🎓🕗 👩🏽‍🔬 e\u{301}", "المكتبة مغلقة اليوم",
            "one\ntwo\r\n\tthree",
            "<b>&amp;</b> ' ; -- %s \u{2028} \u{1}",
        ]

        @Test(
            "A message reaches the phone as the seed's components: an Alert as two, Information as one",
            arguments: ["Alert", "Information"], texts)
        func components(distribution: String, text: String) async throws {
            let isAlert = distribution == "Alert"
            let subject = try await portal.makeSubject(distribution)
            let title = Self.texts.suffix(2).contains(text) ? "Closed today" : text
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let desc = isAlert ? text : ""
                let posted = try await portal.post(subject.message(title: title, desc: desc, message: text))
                let (key, timestamp) = try identity(of: posted)
                let events = try await phone.events(isAlert ? 2 : 1)
                for event in events.map(\.json) {
                    #expect(event["from"] == "/topics/\(subject.topicKey)")
                    #expect(event["priority"] == "high")
                }
                let data = try #require(events.first { $0.component == "data" }).json
                #expect(
                    data["data"] == [
                        "msi_key": "\(key)", "topic_key": "\(subject.topicKey)", "dist": "\(distribution)", "title": "\(title)",
                        "desc": "\(desc)", "message": "\(text)", "timestamp": "\(timestamp)",
                    ])
                if isAlert {
                    let notification = try #require(events.first { $0.component == "notification" }).json
                    #expect(
                        notification["notification"] == [
                            "title": "\(title)", "body": "\(text)", "sound": "default", "tag": "\(key)",
                        ])
                    #expect(notification["data"] == ["msi_key": "\(key)"])
                }
                _ = try await portal.message(key, hasState: "relayed")
                #expect(phone.events.count == (isAlert ? 2 : 1))
            }
        }

        @Test("FCM gets the seed's mapping in the form of the v1 API, and nothing else")
        func request() async throws {
            let alert = try await portal.makeSubject("Alert")
            let information = try await portal.makeSubject("Information")
            for subject in [alert, information] {
                let (key, timestamp) = try identity(of: try await portal.post(subject.message()))
                _ = try await portal.message(key, hasState: "relayed")
                var data: JSONValue = [
                    "topic": "\(subject.topicKey)",
                    "data": [
                        "msi_key": "\(key)", "topic_key": "\(subject.topicKey)", "dist": "\(subject.distribution)",
                        "title": "Closed today", "desc": "The library", "message": "The library stays closed.",
                        "timestamp": "\(timestamp)",
                    ],
                    "android": ["priority": "HIGH"],
                    "apns": [
                        "headers": ["apns-priority": "5", "apns-push-type": "background"],
                        "payload": ["aps": ["content-available": 1]],
                    ],
                ]
                var notification: JSONValue = [
                    "topic": "\(subject.topicKey)",
                    "notification": ["title": "Closed today", "body": "The library"],
                    "data": ["msi_key": "\(key)"],
                    "android": ["priority": "HIGH", "notification": ["sound": "default", "tag": "\(key)"]],
                    "apns": [
                        "headers": ["apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": "\(key)"],
                        "payload": ["aps": ["sound": "default"]],
                    ],
                ]
                let sent = try await stack.fcm.acceptedSends(to: subject.topicKey).compactMap { $0["body"]?["message"] }
                for message in sent {
                    // The deadline is the message's own: a day for an Alert and four weeks for Information, in whole seconds.
                    let longest: Int64 = subject == alert ? 86_400 : 2_419_200
                    let ttl = try #require(message["android"]?["ttl"]?.string.flatMap { Int64($0.dropLast()) })
                    #expect((longest - 300...longest).contains(ttl))
                    let expiration = try #require(message["apns"]?["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) })
                    #expect(abs(expiration - (timestamp / 1_000 + longest)) <= 2)
                    data["android"]?["ttl"] = "\(ttl)s"
                    data["apns"]?["headers"]?["apns-expiration"] = "\(expiration)"
                    notification["android"]?["ttl"] = "\(ttl)s"
                    notification["apns"]?["headers"]?["apns-expiration"] = "\(expiration)"
                    #expect(message == data || message == notification)
                }
                #expect(sent.count == (subject == alert ? 2 : 1))
                #expect(sent.filter { $0["notification"] != nil }.count == (subject == alert ? 1 : 0))
            }
        }

        @Test("A correction reaches the phone under the pop-up's name of the message that it corrects")
        func correction() async throws {
            let subject = try await portal.makeSubject("Alert")
            func message(_ title: String, _ changes: [String: JSONValue] = [:]) -> JSONValue {
                var message = subject.message(title: title)
                for (name, value) in changes { message[name] = value }
                return message
            }
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let (wrong, _) = try identity(
                    of: try await portal.post(message("Friday", ["options": ["collapse_key": "exam"]])))
                _ = try await portal.message(wrong, hasState: "relayed")
                let fields: [String: JSONValue] = [
                    "follows": "\(wrong)", "correction": true, "options": ["collapse_key": "exam"],
                ]
                let posted = try await portal.post(message("Monday", fields), key: "monday")
                let (right, _) = try identity(of: posted)
                let again = try await portal.post(message("Monday", fields), key: "monday")
                #expect(try identity(of: again).0 == right)
                _ = try await portal.message(right, hasState: "relayed")
                let sent = try await phone.events(4).filter { $0.json["data"]?["msi_key"]?.string == right }
                #expect(sent.compactMap { $0.json["notification"]?["tag"] } == ["\(wrong)"])
                #expect(sent.compactMap { $0.json["data"]?["corrects"] } == ["\(wrong)"])
                #expect(try await portal.message(wrong)["follow_ups"] == [.string(right)])
                // The gateway's copy may be a quarter of a second old.
                try await eventually("the correction is fetched") {
                    let missed = try await portal.call(.POST, "/message/since", ["topics": ["\(subject.topicKey)"]])
                    return try missed.json["messages"]?.elements?.map { $0["corrects"]?.string } == [nil, wrong]
                }

                for (subject, fields, name) in [
                    // A correction of a correction corrects the first message.
                    (subject, ["follows": "\(right)", "correction": true, "options": ["collapse_key": "exam"]], "follows"),
                    (subject, ["follows": "\(wrong)", "correction": true], "options.collapse_key"),
                    (try await portal.makeSubject("Alert"), fields, "topic_key"),
                ] as [(SubjectPath, [String: JSONValue], String)] {
                    var message = subject.message(title: "Monday")
                    for (name, value) in fields { message[name] = value }
                    let refused = try await portal.post(message)
                    #expect(try refused.status == 400 && refused.json["field"] == "\(name)")
                }
            }
        }

        @Test("A post is answered with msi_key, timestamp and Location, and can be followed there")
        func follow() async throws {
            let subject = try await portal.makeSubject("Alert", name: "Opening hours")
            let posted = try await portal.post(subject.message(), key: "follow")
            let (key, timestamp) = try identity(of: posted)
            #expect(posted["Location"] == "/message/\(key)")
            #expect(try posted.json == ["msi_key": "\(key)", "timestamp": .integer(timestamp), "state": "pending"])
            #expect(posted["X-Request-Id"]?.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            var shown = try await portal.message(key, hasState: "relayed")
            let id = try #require(shown["_id"]?.string)
            #expect(id.wholeMatch(of: /[0-9a-f]{24}/) != nil)
            let names = try await stack.fcm.acceptedSends(to: subject.topicKey).map { sent in
                let component = sent["body"]?["message"]?["notification"] == nil ? "data" : "notification"
                return (component, sent["name"] ?? .null)
            }
            let ofFCM = ["notification", "data"].map { component -> JSONValue in
                let name = names.first { $0.0 == component }?.1 ?? .null
                return ["component": "\(component)", "state": "accepted", "name": name]
            }
            // No browser is subscribed.
            let components = ofFCM + [["component": "webpush", "state": "accepted", "name": "0"]]
            let ended = try #require(shown["relay"]?["ended"]?.integer)
            let accepted = try #require(shown["relay"]?["accepted"]?.integer)
            #expect((timestamp...ended).contains(accepted) && ended <= .nowInMilliseconds)
            var parts = try #require(shown["relay"]?["components"]?.array)
            for index in parts.indices {
                #expect((timestamp...ended).contains(try #require(parts[index]["accepted_at"]?.integer)))
                parts[index]["accepted_at"] = nil
            }
            shown["relay"]?["components"] = .array(parts)
            shown["relay"]?["ended"] = nil
            shown["relay"]?["accepted"] = nil
            shown["expires"] = shown["expires"].map { .integer(($0.integer ?? 0) - timestamp) }
            #expect(shown["traceparent"]?.string?.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]/) != nil)
            shown["traceparent"] = nil
            #expect(
                shown == [
                    "_id": "\(id)", "msi_key": "\(key)", "title": "Closed today", "desc": "The library",
                    "message": "The library stays closed.", "topic_key": "\(subject.topicKey)", "distribution": "Alert",
                    "sender": "admin", "timestamp": .integer(timestamp),
                    "names": ["channel": "Library", "area": "Main building", "subject": "Opening hours"],
                    "expires": 86_400_000, "idempotency_key": "follow",
                    "relay": ["state": "relayed", "attempts": 1, "components": .array(components)],
                ])
            let unknown = try await portal.call(.GET, "/message/0123456789abcdef01234567")
            #expect(unknown.status == 404)
            #expect(try await portal.call(.GET, "/message/first").status == 400)
        }

        @Test("Posts with one Idempotency-Key are one message, even at the same time, and if its subject was deleted")
        func idempotency() async throws {
            let subject = try await portal.makeSubject("Information")
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await portal.post(subject.message(), key: "idempotency") }
                }
                return try await group.reduce(into: [HTTPAnswer]()) { $0.append($1) }
            }
            #expect(Set(answers.map(\.status)) == [201])
            #expect(Set(answers.map(\.body)).count == 1)
            let first = try #require(answers.first { $0["Idempotency-Replayed"] == nil })
            _ = try await portal.message(try identity(of: first).key, hasState: "relayed")
            func replay() async throws {
                let again = try await portal.post(subject.message(), key: "idempotency")
                #expect(again.status == 201)
                #expect(again.body == first.body)
                #expect(again["Location"] == first["Location"])
                #expect(again["Idempotency-Replayed"] == "true")
            }
            try await replay()
            let url = "/subject/\(subject.channel)/\(subject.area)/\(subject.subject)"
            #expect(try await portal.call(.DELETE, url).status == 204)
            try await replay()
            let other = try await portal.post(subject.message(title: "Another"), key: "idempotency")
            #expect(other.status == 422)
            #expect(try other.json["field"] == "Idempotency-Key")
            #expect(try await portal.post(subject.message(), key: "").status == 400)
            #expect(try await stack.fcm.acceptedSends(to: subject.topicKey).count == 1)
        }

        /// The body of a successful answer to a post.
        private func identity(of posted: HTTPAnswer) throws -> (key: String, timestamp: Int64) {
            guard posted.status == 201, let key = try posted.json["msi_key"]?.string,
                let timestamp = try posted.json["timestamp"]?.integer
            else { throw UnexpectedAnswer(posted) }
            return (key, timestamp)
        }
    }
}
