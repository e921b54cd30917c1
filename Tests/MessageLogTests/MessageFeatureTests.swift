import Bus
import Base
import Schemas
import TestSupport
import Testing

/// Delays, drills, follow-ups and templates over the bus.
@Suite("Message features over the bus", .timeLimit(.minutes(10)))
struct MessageFeatureTests {
    @Test(
        "A delayed message goes out after its delay and can be recalled before; a drill goes out with its mark",
        arguments: StoreKind.ofRules)
    func delay(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind) { log in
            let start = UnixMilliseconds.now
            // Long enough for the requests before its end, on a busy machine.
            let command = LogMessage.sample("Fire", timestamp: start) { ($0.delay, $0.drill) = (6, true) }
            let stored = try await log.log(command)
            #expect(stored.title == "[DRILL] Fire" && stored.drill == true && stored.delay == 6 && stored.sendAt == nil)
            #expect(stored.relay.nextAttempt == start + 6_000)
            #expect(try await log.log(command).id == stored.id)
            let unlike = LogMessage.sample("Fire", msiKey: command.msiKey, timestamp: start) { $0.delay = 6 }
            #expect(await log.client.failure(of: unlike, context: .communicator)?.status == .conflict)

            let other = try await log.log(.sample("Undo") { $0.delay = 60 })
            let back = try await log.client.request(RecallMessage(msiKey: other.msiKey), context: .communicator)
            #expect(back.relay.state == .recalled)

            _ = try await log.wait(for: command.msiKey) { $0.state == .relayed }
            #expect(UnixMilliseconds.now >= start + 6_000)
            #expect(relay.asked.map(\.content.title) == ["[DRILL] Fire"])
        }
    }

    @Test("A message lists its follow-ups, which need an earlier message, and outlive it", arguments: StoreKind.ofRules)
    func followUps(_ kind: StoreKind) async throws {
        try await RunningMessageLog.with(on: kind) { log in
            let storm = try await log.log(.sample("Storm"))
            let clear = try await log.log(.sample("All clear") { $0.follows = storm.msiKey })
            #expect(clear.follows == storm.msiKey)
            #expect(try await log.message(storm.msiKey).followUps == [clear.msiKey])
            let page = try await log.client.request(ListMessages(limit: 10)).messages
            #expect(page.map(\.followUps) == [nil, [clear.msiKey]])

            let command = LogMessage.sample("Lost") { $0.follows = ObjectID() }
            let lost = await log.client.failure(of: command, context: .communicator)
            #expect(lost?.status == .invalid && lost?.field == "draft.follows")
            #expect(await log.client.failure(of: GetMessage(msiKey: command.msiKey))?.status == .notFound)
        }
    }

    @Test("Templates are kept beside the archive, have unique names, and are listed by name", arguments: StoreKind.allCases)
    func templates(_ kind: StoreKind) async throws {
        try await withDatabase(kind) { folder, settings in
            let storm = MessageTemplate.Draft(name: "Storm", title: "Storm in {{place}}", desc: "d", message: "m", urgent: true)
            let added = try await RunningMessageLog.with(in: folder, settings: settings) { log in
                let exam = MessageTemplate.Draft(name: "Exam", title: "t", desc: "", message: "{{room}}")
                _ = try await log.client.request(AddResource<MessageTemplate>(in: (), exam))
                let added = try await log.client.request(AddResource<MessageTemplate>(in: (), storm))
                let twice = await log.client.failure(of: AddResource<MessageTemplate>(in: (), storm))
                #expect(twice?.status == .conflict && twice?.field == "name")
                return added.document
            }
            #expect(added.urgent)
            try await RunningMessageLog.with(in: folder, settings: settings) { log in
                let list = try await log.client.request(ListResources<MessageTemplate>(in: (), limit: 10))
                #expect(list.documents.map(\.name) == ["Exam", "Storm"] && list.documents.map(\.urgent) == [false, true])
                #expect(try await log.client.request(GetResource<MessageTemplate>(added.id)).document == added)
            }
        }
    }

    @Test("A command with an unfilled blank is refused, and fields that a command lacks are not stored")
    func absentFields() async throws {
        try await RunningMessageLog.with { log in
            let blank = await log.client.failure(of: LogMessage.sample("In {{room}}"), context: .communicator)
            #expect(blank?.status == .invalid && blank?.field == "draft.title")
            let stored = try await log.log(.sample("In {room}"))
            let json = String(decoding: try JSONCoder.encode(stored), as: UTF8.self)
            for field in ["delay", "drill", "follow", "template", "values", "approval"] { #expect(!json.contains(field)) }
        }
    }
}
