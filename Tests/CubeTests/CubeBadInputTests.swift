import CommandBus
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
            SampleCommand("subject.find", SampleDocument([.init("topic_key", "\"\(topicKey)\"")])),
            SampleCommand("cube.page", SampleDocument([.init("version", "4"), .init("page", "0")])),
        ]
    }
}
