import Base
import Bus
import NIOCore
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The gateway's copy of the cube after edits.
@Suite("Copy of the cube", .timeLimit(.minutes(10)))
struct CubeCopyTests {
    @Test("Each edit changes the copy as it changes the cube")
    func edits() async throws {
        try await EditedCube.with { cube in
            let other = try await cube.edit(AddChannel(channel: NamedDraft(name: "Other", desc: "")))
            let channel = try await cube.edit(AddChannel(channel: NamedDraft(name: "Campus", desc: "d"))).id
            let area = try await cube.edit(AddArea(channelID: channel, area: NamedDraft(name: "Weather", desc: ""))).id
            let second = try await cube.edit(AddArea(channelID: channel, area: NamedDraft(name: "Food", desc: ""))).id
            let draft = SubjectDraft(name: "Storms", desc: "", opt: .init(level: .forced, distribution: .alert))
            let subject = try await cube.edit(AddSubject(channelID: channel, areaID: area, subject: draft)).id
            let last = try await cube.edit(AddSubject(channelID: channel, areaID: area, subject: draft)).id
            let renamed = NamedDraft(name: "Renamed", desc: "new")
            _ = try await cube.edit(UpdateChannel(channelID: channel, channel: renamed))
            _ = try await cube.edit(UpdateArea(channelID: channel, areaID: area, area: renamed))
            let silent = SubjectDraft(name: "Silent", desc: "", opt: .init(level: .optional, distribution: .information))
            _ = try await cube.edit(UpdateSubject(channelID: channel, areaID: area, subjectID: subject, subject: silent))
            let ann = try #require(AccountName("ann"))
            for access in [[ann], []] {
                _ = try await cube.edit(SetAccess(channelID: channel, access: access))
                _ = try await cube.edit(SetAccess(channelID: channel, areaID: area, access: access))
                _ = try await cube.edit(SetAccess(channelID: channel, areaID: area, subjectID: subject, access: access))
            }
            for approval in [true, false] {
                _ = try await cube.edit(
                    SetApproval(channelID: channel, areaID: area, subjectID: subject, approval: approval))
            }
            _ = try await cube.edit(SetOrder(ids: [channel, other.id]))
            _ = try await cube.edit(SetOrder(channelID: channel, ids: [second, area]))
            _ = try await cube.edit(SetOrder(channelID: channel, areaID: area, ids: [last, subject]))
            let (here, there) = (SubjectPlace(channel: channel, area: area), SubjectPlace(channel: channel, area: second))
            _ = try await cube.edit(MoveSubject(channelID: channel, areaID: area, subjectID: subject, to: there))
            _ = try await cube.edit(MoveSubject(channelID: channel, areaID: second, subjectID: subject, to: here))
            _ = try await cube.edit(DeleteSubject(channelID: channel, areaID: area, subjectID: subject))
            _ = try await cube.edit(DeleteArea(channelID: channel, areaID: area))
            _ = try await cube.edit(DeleteChannel(channelID: channel))
        }
    }

    @Test("The copy has the new version only if the gateway has made all edits since")
    func version() async throws {
        let command = AddChannel(channel: NamedDraft(name: "n", desc: "d"))
        let copy = try CubeCopy(version: 7, channels: [])
        func edit(_ version: CubeVersion) -> VersionedCubeEdit {
            VersionedCubeEdit(version: version, edit: AppliedCubeEdit(command, newID: ObjectID()))
        }
        for (versions, version) in [([8], 8), ([8, 9], 9), ([9], 7), ([8, 10], 7)] as [([CubeVersion], CubeVersion)] {
            let edited = try copy.applying(versions.map(edit))
            #expect(edited.version == version && edited.channels.count == versions.count)
        }
    }

    @Test("After an edit that fits another cube the copy does not have its version; otherwise it has the digest of its channels")
    func otherCube() throws {
        let channel = Schemas.Channel(id: ObjectID(), name: "n", desc: "d")
        let copy = try CubeCopy(version: 7, channels: [channel])
        func edited(_ command: any CubeEditing) throws -> CubeCopy {
            try copy.applying([VersionedCubeEdit(version: 8, edit: AppliedCubeEdit(command, newID: nil))])
        }
        #expect(try edited(DeleteChannel(channelID: ObjectID())).version == 7)
        let right = try edited(UpdateChannel(channelID: channel.id, channel: NamedDraft(name: "m", desc: "d")))
        var after = channel
        after.name = "m"
        #expect(right.version == 8 && right.channels == [after])
        #expect(try right.digest == CubeDigest(of: [after]))
    }

    @Test(
        "Copies of the same version have the same entity tags only with the same channels; access lists are not in the open one")
    func tags() throws {
        let id = ObjectID()
        func copy(_ name: String, _ access: [String] = []) throws -> CubeCopy {
            try CubeCopy(version: 7, channels: [Schemas.Channel(id: id, name: name, desc: "d", access: access)])
        }
        let (copy1, same, renamed, listed) = (try copy("n"), try copy("n"), try copy("m"), try copy("n", ["ann"]))
        #expect(copy1.complete.tag == same.complete.tag && copy1.open.tag == same.open.tag)
        #expect(
            Set([copy1.complete.tag, copy1.open.tag, renamed.complete.tag, renamed.open.tag, listed.complete.tag]).count == 5)
        #expect(listed.open.tag == copy1.open.tag)
        let json = try JSONCoder.encode(listed.channels)
        #expect(listed.complete.json.plain == ByteBuffer(bytes: json))
        // Texts that Swift counts as equal are not the same.
        #expect(try copy("\u{E9}").complete.tag != copy("e\u{301}").complete.tag)
    }
}

/// A cube service, whose edits are made to a copy as well.
private struct EditedCube {
    let client: CommandClient

    static func with(_ body: (EditedCube) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await withService("msi-cube", in: folder) { _ in
                try await withBus { bus in
                    try await body(
                        EditedCube(
                            client: try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
                        )
                    )
                }
            }
        }
    }

    /// Makes an edit, and compares.
    func edit<Edit: CubeEditing>(_ command: Edit) async throws -> Edit.Value {
        let before = try await client.readCube(known: nil)
        let edit = try await client.request(command)
        let after = try await client.readCube(known: nil)
        let made = AppliedCubeEdit(command, newID: Edit.newID(in: edit.value))
        let copy = try before.applying([VersionedCubeEdit(version: edit.version, edit: made)])
        #expect(copy.version == after.version && copy.channels == after.channels, "\(Edit.name)")
        #expect(copy.complete.json.plain == after.complete.json.plain)
        return edit.value
    }
}
