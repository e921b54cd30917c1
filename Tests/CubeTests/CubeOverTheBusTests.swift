import CommandBus
import Schemas
import TestSupport
import Testing

/// Every command of the cube service, over its real socket.
@Suite("Cube over the bus", .timeLimit(.minutes(10)))
struct CubeOverTheBusTests {
    @Test("Each command answers with the object and the version that it has made")
    func everyCommand() async throws {
        try await RunningCube.with { cube in
            let client = cube.client
            let empty = try await cube.snapshot()
            #expect(empty == CubeSnapshot(version: 0, channels: []))

            let (channel, area, subject) = try await cube.build()
            #expect(channel == Channel(id: channel.id, name: "Campus", desc: "All of it"))
            #expect(area == Area(id: area.id, name: "Library", desc: "Hours"))
            #expect(subject.topicKey == TopicKey(channel: channel.id, area: area.id, subject: subject.id))
            #expect(subject.desc == SubjectDraft.closures.desc && subject.opt == SubjectDraft.closures.opt)

            let renamedChannel = try await client.request(
                UpdateChannel(channelID: channel.id, channel: NamedDraft(name: "C", desc: "")))
            let renamedArea = try await client.request(
                UpdateArea(channelID: channel.id, areaID: area.id, area: NamedDraft(name: "A", desc: "a")))
            let draft = SubjectDraft(
                name: "S", desc: "s", opt: SubjectOptions(level: .optional, distribution: .information))
            let renamedSubject = try await client.request(
                UpdateSubject(channelID: channel.id, areaID: area.id, subjectID: subject.id, subject: draft))
            #expect([renamedChannel.version, renamedArea.version, renamedSubject.version] == [4, 5, 6])
            #expect(renamedSubject.value.topicKey == subject.topicKey)

            var expected = channel
            expected.name = "C"
            expected.desc = ""
            expected.areas = [Area(id: area.id, name: "A", desc: "a", subjects: [renamedSubject.value])]
            let read = try await cube.snapshot()
            #expect(read == CubeSnapshot(version: 6, channels: [expected]))
            let unchanged = try await client.request(ReadCube(known: 6))
            #expect(unchanged == ReadCube.Reply(version: 6, channels: nil))
            let older = try await client.request(ReadCube(known: 5))
            #expect(older.channels == [expected])

            let deletions = [
                try await client.request(DeleteSubject(channelID: channel.id, areaID: area.id, subjectID: subject.id)).version,
                try await client.request(DeleteArea(channelID: channel.id, areaID: area.id)).version,
                try await client.request(DeleteChannel(channelID: channel.id)).version,
            ]
            #expect(deletions == [7, 8, 9])
            let emptied = try await cube.snapshot()
            #expect(emptied == CubeSnapshot(version: 9, channels: []))
        }
    }

    @Test("An object that does not exist, or has another parent, is not found, and nothing changes")
    func notFound() async throws {
        try await RunningCube.with { cube in
            let (channel, area, subject) = try await cube.build()
            let other = try await cube.client.request(AddChannel(channel: NamedDraft(name: "Other", desc: ""))).value
            let before = try await cube.snapshot()
            let client = cube.client
            let named = NamedDraft(name: "n", desc: "d")
            let failures = [
                await client.failure(of: UpdateChannel(channelID: ObjectID(), channel: named)),
                await client.failure(of: DeleteChannel(channelID: ObjectID())),
                await client.failure(of: AddArea(channelID: ObjectID(), area: named)),
                await client.failure(of: UpdateArea(channelID: other.id, areaID: area.id, area: named)),
                await client.failure(of: UpdateArea(channelID: channel.id, areaID: ObjectID(), area: named)),
                await client.failure(of: DeleteArea(channelID: other.id, areaID: area.id)),
                await client.failure(of: AddSubject(channelID: other.id, areaID: area.id, subject: .closures)),
                await client.failure(
                    of: UpdateSubject(channelID: other.id, areaID: area.id, subjectID: subject.id, subject: .closures)),
                await client.failure(
                    of: UpdateSubject(channelID: channel.id, areaID: area.id, subjectID: area.id, subject: .closures)),
                await client.failure(of: DeleteSubject(channelID: channel.id, areaID: ObjectID(), subjectID: subject.id)),
            ]
            for (number, failure) in failures.enumerated() {
                #expect(failure?.status == .notFound && failure?.message.isEmpty == false, "command \(number)")
            }
            let after = try await cube.snapshot()
            #expect(after == before)
        }
    }

    @Test("An edit of an old version is a conflict, and changes nothing")
    func conflict() async throws {
        try await RunningCube.with { cube in
            let (channel, area, subject) = try await cube.build()
            let client = cube.client
            let seen = try await cube.snapshot().version
            func rename(_ name: String) -> UpdateSubject {
                var draft = SubjectDraft.closures
                draft.name = name
                return UpdateSubject(
                    channelID: channel.id, areaID: area.id, subjectID: subject.id, subject: draft, unchangedSince: seen)
            }
            let first = try await client.request(rename("first"))
            #expect(first.value.name == "first")
            let late = [
                await client.failure(of: rename("second")),
                await client.failure(
                    of: DeleteSubject(
                        channelID: channel.id, areaID: area.id, subjectID: subject.id, unchangedSince: seen)),
                await client.failure(of: DeleteArea(channelID: channel.id, areaID: area.id, unchangedSince: seen)),
                await client.failure(of: DeleteChannel(channelID: channel.id, unchangedSince: seen)),
            ]
            #expect(late.map { $0?.status } == [.conflict, .conflict, .conflict, .conflict])
            // The area itself is unchanged.
            let area2 = try await client.request(
                UpdateArea(
                    channelID: channel.id, areaID: area.id, area: NamedDraft(name: "x", desc: "y"), unchangedSince: seen))
            #expect(area2.value.subjects.map(\.name) == ["first"])
            #expect(area2.version.rawValue == first.version.rawValue + 1)
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
                ("channel.delete", #"{"channelID":"\#(channel.id)","unchanged_since":"1"}"#, "unchanged_since"),
                ("cube.read", #"{"known":null}"#, "known"),
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
}
