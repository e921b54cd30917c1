import Bus
import Schemas
import TestSupport
import Testing

@Suite("Cube, bad input", .timeLimit(.minutes(10)))
struct CubeBadInputTests {
    @Test("Hundreds of bad requests are refused, and leave nothing behind")
    func badRequests() async throws {
        try await RunningCube.with { cube in
            let (channel, area, subject) = try await cube.build()
            let bystander = try await cube.client.request(AddChannel(channel: NamedDraft(name: "Bystander", desc: ""))).value
            let count = try await checkBadRequests(
                to: cube.process, at: cube.endpoint, seed: 20_261_121, Self.commands(channel.id, area.id, subject.id))
            #expect(count >= 2 * 100)

            let added = try await cube.client.request(AddChannel(channel: NamedDraft(name: "After", desc: "the storm")))
            #expect(added.value.name == "After")
            let after = try await cube.snapshot()
            #expect(after.channels.contains(bystander))
        }
    }

    @Test("A value that breaks a rule is invalid, and the answer names the field")
    func invalid() async throws {
        try await RunningCube.with { cube in
            let (channel, area, _) = try await cube.build()
            let ids = #""channelID":"\#(channel.id)","areaID":"\#(area.id)""#
            let wrong: [(String, String, String?)] = [
                ("channel.add", #"{"channel":{"name":"","desc":"d"}}"#, "channel.name"),
                ("channel.add", #"{"channel":{"name":"n"}}"#, "channel.desc"),
                ("channel.add", #"{"channel":{"name":"n","desc":"d","color":"red"}}"#, "channel.color"),
                ("channel.add", #"{"channel":{"name":"\#(String(repeating: "é", count: 201))","desc":""}}"#, "channel.name"),
                ("channel.update", #"{"channelID":"5a","channel":{"name":"n","desc":"d"}}"#, "channelID"),
                ("area.add", #"{"channelID":7,"area":{"name":"n","desc":"d"}}"#, "channelID"),
                ("subject.add", #"{\#(ids),"subject":{"name":"n","desc":"d"}}"#, "subject.opt"),
                (
                    "subject.add",
                    #"{\#(ids),"subject":{"name":"n","desc":"d","opt":{"level":"Often","distribution":"Alert"}}}"#,
                    "subject.opt.level"
                ),
                ("subject.delete", #"{\#(ids)}"#, "subjectID"),
                (
                    "subject.move",
                    #"{\#(ids),"subjectID":"\#(area.id)","to":{"channel":"\#(channel.id)","area":"\#(area.id)"}}"#, "to"
                ),
                ("channel.delete", #"{"channelID":"\#(channel.id)","unchanged_since":"1"}"#, "unchanged_since"),
                ("cube.read", #"{"known":null}"#, "known"), ("cube.read", #"{"known":1,"digest":"x"}"#, "digest"),
                ("cube.read", "", nil),
                ("cube.write", "{}", nil),
            ]
            for (command, payload, field) in wrong {
                let failure = await cube.client.failure(of: command, payload)
                #expect(failure?.status == .invalid && failure?.field == field, "\(command) \(payload): \(failure as Any)")
            }
            let after = try await cube.snapshot()
            #expect(after.version == 3)
        }
    }

    /// Every command with a required field.
    private static func commands(_ channel: ObjectID, _ area: ObjectID, _ subject: ObjectID) -> [SampleCommand] {
        let topicKey = TopicKey(channel: channel, area: area, subject: subject)
        let inChannel = SampleDocument.Field("channelID", "\"\(channel)\"")
        let inArea = SampleDocument.Field("areaID", "\"\(area)\"")
        let ofSubject = SampleDocument.Field("subjectID", "\"\(subject)\"")
        let since = SampleDocument.Field("unchanged_since", "0", isOptional: true)
        let named = #"{"name":"\#(BadBusRequests.secret)","desc":"d"}"#
        let draft =
            #"{"name":"\#(BadBusRequests.secret)","desc":"d","opt":{"level":"Forced","distribution":"Alert"}}"#
        return [
            SampleCommand("channel.add", SampleDocument([.init("channel", named)])),
            SampleCommand("channel.update", SampleDocument([inChannel, since, .init("channel", named)])),
            SampleCommand("channel.delete", SampleDocument([since, inChannel])),
            SampleCommand("area.add", SampleDocument([inChannel, .init("area", named)])),
            SampleCommand("area.update", SampleDocument([inChannel, inArea, since, .init("area", named)])),
            SampleCommand("area.delete", SampleDocument([inChannel, since, inArea])),
            SampleCommand("subject.add", SampleDocument([inChannel, inArea, .init("subject", draft)])),
            SampleCommand("subject.update", SampleDocument([inChannel, inArea, ofSubject, since, .init("subject", draft)])),
            SampleCommand("subject.delete", SampleDocument([inChannel, inArea, since, ofSubject])),
            SampleCommand(
                "subject.move",
                SampleDocument([
                    inChannel, inArea, ofSubject, since, .init("to", #"{"channel":"\#(area)","area":"\#(channel)"}"#),
                ])),
            SampleCommand("subject.find", SampleDocument([.init("topic_key", "\"\(topicKey)\"")])),
            SampleCommand("cube.page", SampleDocument([.init("version", "4"), .init("page", "0")])),
        ]
    }
}
