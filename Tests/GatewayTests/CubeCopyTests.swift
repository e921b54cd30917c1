import CommandBus
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The gateway's copy of the cube after its own edits.
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
            _ = try await cube.edit(DeleteSubject(channelID: channel, areaID: area, subjectID: subject))
            _ = try await cube.edit(DeleteArea(channelID: channel, areaID: area))
            _ = try await cube.edit(DeleteChannel(channelID: channel))
        }
    }

    @Test("The copy has the new version only if the gateway has made all edits since")
    func version() async throws {
        let channel = Channel(id: ObjectID(), name: "n", desc: "d")
        let command = AddChannel(channel: NamedDraft(name: "n", desc: "d"))
        let copy = try CubeCopy(version: 7, channels: [])
        func edit(_ version: CubeVersion) -> AppliedCubeEdit {
            AppliedCubeEdit(command, CubeEdit(version: version, value: channel))
        }
        for (versions, version) in [([8], 8), ([8, 9], 9), ([9], 7), ([8, 10], 7)] as [([CubeVersion], CubeVersion)] {
            let edited = try copy.applying(versions.map(edit))
            #expect(edited.version == version && edited.channels.count == versions.count)
        }
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
    func edit<Edit: CubeEditing>(_ command: Edit) async throws -> Edit.Value where Edit.Reply == CubeEdit<Edit.Value> {
        let before = try await client.readCube(known: nil)
        let edit = try await client.request(command)
        let after = try await client.readCube(known: nil)
        let copy = try before.applying([AppliedCubeEdit(command, edit)])
        #expect(copy.version == after.version && copy.channels == after.channels, "\(Edit.name)")
        #expect(copy.complete.json == after.complete.json)
        return edit.value
    }
}
