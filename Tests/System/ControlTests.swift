import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// Scheduling, recall and retry of messages by a portal.
    @Suite("Control of messages")
    struct ControlTests {
        let stack: Stack
        let portal: Portal

        init() throws {
            stack = try SharedStack.current
            portal = stack.portal
        }

        @Test("A ttl reaches FCM for both platforms, and the message expires with it")
        func timeToLive() async throws {
            let subject = try await portal.makeSubject("Information")
            for ttl in [0, 3_600] {
                var message = subject.message()
                message["ttl"] = .integer(Int64(ttl))
                let key = try await portal.accepted(message)
                let shown = try await portal.message(key, hasState: "relayed")
                #expect(shown["ttl"] == .integer(Int64(ttl)))
                let lifetime = (shown["expires"]?.integer ?? 0) - (shown["timestamp"]?.integer ?? 0)
                #expect(lifetime == Int64(max(ttl, 10)) * 1_000)
                let sent = try #require(
                    try await stack.fcm.acceptedSends(to: subject.topicKey).last?["body"]?["message"])
                let seconds = sent["android"]?["ttl"]?.string.flatMap { Int($0.dropLast()) }
                #expect(ttl == 0 ? seconds == 0 : (3_300...3_600).contains(seconds ?? 0))
                let expiration = sent["apns"]?["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) } ?? -1
                #expect(ttl == 0 ? expiration == 0 : abs(expiration - (.nowInMilliseconds / 1_000 + 3_600)) < 300)
            }
        }

        @Test("A scheduled message goes out at its time, and can be recalled before; a second recall is a conflict")
        func schedule() async throws {
            let subject = try await portal.makeSubject("Alert")
            let due = Int64.nowInMilliseconds + 1_000
            var message = subject.message()
            message["send_at"] = .integer(due)
            let scheduled = try await portal.accepted(message)
            message["send_at"] = .integer(due + 3_600_000)
            let recalled = try await portal.accepted(message)
            let answer = try await portal.call(.DELETE, "/message/\(recalled)")
            #expect(answer.status == 200)
            let document = try answer.json
            #expect(document["relay"]?["state"] == "recalled")
            #expect(document["relay"]?["trace"]?.array.map { $0["action"] } == ["recall"])
            #expect(document["relay"]?["trace"]?.array.map { $0["by"] } == ["admin"])
            let again = try await portal.call(.DELETE, "/message/\(recalled)")
            #expect(again.status == 409)
            #expect(try again.json["detail"]?.string?.contains("recalled") == true)

            _ = try await portal.message(scheduled, hasState: "relayed")
            let sends = try await stack.fcm.acceptedSends(to: subject.topicKey)
            #expect(sends.count == 2)
            for send in sends {
                #expect(send["received_at"]?.integer ?? 0 >= due)
                #expect(send["body"]?["message"]?["data"]?["msi_key"]?.string == scheduled)
            }
            let gone = try await portal.call(.DELETE, "/message/\(scheduled)")
            #expect(gone.status == 409)
            #expect(try await portal.message(recalled)["relay"]?["state"] == "recalled")
        }

        @Test("A scheduled post with the same Idempotency-Key is made once, even after its time")
        func scheduledOnce() async throws {
            let subject = try await portal.makeSubject("Information")
            let (message, key, first) = try await postLate(to: subject)
            try await eventually("the moment is too long ago for a new message", every: .seconds(1)) {
                try await portal.post(message).status == 400
            }
            let again = try await portal.post(message, key: key)
            #expect(again.status == 201 && again.body == first.body)
        }

        /// Posts a message whose time is nearly as long ago as it may be: a portal's clock may be a minute behind.
        ///
        /// - Returns: The message, its Idempotency-Key, and the answer.
        private func postLate(to subject: SubjectPath) async throws -> (JSONValue, key: String, HTTPAnswer) {
            // On a busy machine a post may take the seconds that are left of the minute. Then it is refused, and another one follows.
            for attempt in 1...10 {
                var message = subject.message()
                message["send_at"] = .integer(.nowInMilliseconds - 57_000)
                let key = "scheduled \(attempt)"
                let answer = try await portal.post(message, key: key)
                if answer.status == 201 { return (message, key, answer) }
                guard answer.status == 400 else { throw UnexpectedAnswer(answer) }
            }
            throw TooLate("no post was in time")
        }

        @Test("The archive is filtered by place, sender, state, time and words, page by page")
        func filters() async throws {
            let one = try await portal.makeSubject("Information")
            let sibling = try await portal.makeSubject("Alert", in: one.channel, one.area)
            let other = try await portal.makeSubject("Information")
            var keys: [String] = []
            for number in 0..<4 {
                for subject in [one, sibling, other] {
                    let message = subject.message(title: "Exam \(number) Übung", message: "Room & more: B12+")
                    keys.append(try await portal.accepted(message))
                }
            }
            for key in keys { _ = try await portal.message(key, hasState: "relayed") }

            func listed(_ query: String) async throws -> [String] {
                try await portal.all("messages", at: "/message?limit=3&" + query).reversed().compactMap { $0["msi_key"]?.string }
            }
            func posted(to places: Int...) -> [String] {
                keys.enumerated().filter { places.contains($0.offset % 3) }.map(\.element)
            }
            #expect(try await listed("channel=\(one.channel)") == posted(to: 0, 1))
            #expect(try await listed("area=\(one.area)&sender=admin") == posted(to: 0, 1))
            #expect(try await listed("subject=\(other.subject)&state=relayed") == posted(to: 2))
            #expect(try await listed("subject=\(other.subject)&state=failed").isEmpty)
            #expect(try await listed("channel=\(other.channel)&q=%C3%BCbung%20exam*%20B12+").count == 4)
            #expect(try await listed("channel=\(other.channel)&q=exam+2") == [keys[8]])
            let first = try await portal.message(keys[3])["timestamp"]?.integer ?? 0
            let last = try await portal.message(keys[9])["timestamp"]?.integer ?? 0
            #expect(try await listed("channel=\(one.channel)&from=\(first)&to=\(last)").allSatisfy { keys[3..<9].contains($0) })
        }
    }
}
