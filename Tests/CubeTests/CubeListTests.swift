import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Cube

/// Access lists, the order of siblings, and approval, in both databases.
@Suite("Lists of the cube", .timeLimit(.minutes(10)))
struct CubeListTests {
    private static let names = ["Ann", "bob@example.edu"].compactMap { AccountName($0) }

    /// A channel with two areas, the first of which has two subjects.
    private static func build(_ store: CubeStore) async throws -> (channel: Channel, areas: [Area], subjects: [Subject]) {
        let channel = try await store.edit(AddChannel(channel: .named("C"))).value
        var areas: [Area] = []
        for name in ["A", "B"] { areas.append(try await store.edit(AddArea(channelID: channel.id, area: .named(name))).value) }
        let command = AddSubject(channelID: channel.id, areaID: areas[0].id, subject: .storms)
        return (channel, areas, [try await store.edit(command).value, try await store.edit(command).value])
    }

    @Test("A list is set at a channel, an area or a subject, and stays when the object is updated", arguments: StoreKind.allCases)
    func access(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            let (area, subject) = (areas[0].id, subjects[1].id)
            let texts = Self.names.map(\.description)
            let set = [
                SetAccess(channelID: channel.id, access: Self.names),
                SetAccess(channelID: channel.id, areaID: area, access: Self.names),
                SetAccess(channelID: channel.id, areaID: area, subjectID: subject, access: Self.names),
            ]
            for command in set {
                let edit = try await store.edit(command)
                #expect(edit.value.access.map(\.description) == texts)
                #expect(try await store.version() == edit.version)
            }
            _ = try await store.edit(UpdateChannel(channelID: channel.id, channel: .named("C2")))
            _ = try await store.edit(UpdateArea(channelID: channel.id, areaID: area, area: .named("A2")))
            _ = try await store.edit(UpdateSubject(channelID: channel.id, areaID: area, subjectID: subject, subject: .storms))
            let stored = try await store.snapshot().channels[0]
            #expect(stored.name == "C2" && stored.access == texts)
            #expect(stored.areas.map(\.access) == [texts, []])
            #expect(stored.areas[0].subjects.map(\.access) == [[], texts])
            let found = try await store.find(FindSubject(topicKey: subjects[1].topicKey))
            #expect(found.subject.access == texts)

            _ = try await store.edit(SetAccess(channelID: channel.id, access: []))
            #expect(try await store.snapshot().channels[0].access.isEmpty)
        }
    }

    @Test("A subject's approval is set and reset, and stays when the subject is updated", arguments: StoreKind.allCases)
    func approval(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            func set(_ approval: Bool) async throws -> Approval {
                try await store.edit(
                    SetApproval(channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, approval: approval)
                ).value
            }
            #expect(try await set(true) == Approval(approval: true))
            _ = try await store.edit(
                UpdateSubject(channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, subject: .storms))
            #expect(try await store.snapshot().channels[0].areas[0].subjects.map(\.approval) == [true, nil])
            #expect(try await set(false) == Approval(approval: false))
            #expect(try await store.snapshot().channels[0].areas[0].subjects.map(\.approval) == [nil, nil])
        }
    }

    @Test("Channels, areas and subjects are sorted, and those that are added later come last", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            let others = [
                try await store.edit(AddChannel(channel: .named("D"))).value,
                try await store.edit(AddChannel(channel: .named("E"))).value,
            ]
            let channels = [others[1].id, channel.id, others[0].id]
            _ = try await store.edit(SetOrder(ids: channels))
            _ = try await store.edit(SetOrder(channelID: channel.id, ids: areas.map(\.id).reversed()))
            let reply = try await store.edit(
                SetOrder(channelID: channel.id, areaID: areas[0].id, ids: subjects.map(\.id).reversed()))
            #expect(reply.value.ids == subjects.map(\.id).reversed())
            let last = try await store.edit(AddChannel(channel: .named("F"))).value.id
            let lastArea = try await store.edit(AddArea(channelID: channel.id, area: .named("G"))).value.id

            let stored = try await store.snapshot().channels
            #expect(stored.map(\.id) == channels + [last])
            #expect(stored[1].areas.map(\.id) == areas.map(\.id).reversed() + [lastArea])
            #expect(stored[1].areas[1].subjects == subjects.reversed())

            // Again, with the new ones.
            _ = try await store.edit(SetOrder(ids: [last] + channels.reversed()))
            #expect(try await store.snapshot().channels.map(\.id) == [last] + channels.reversed())
        }
    }

    @Test("A new order of the channels changes only those whose places change", arguments: StoreKind.allCases)
    func fewChanges(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            var added: [ObjectID] = []
            for name in ["A", "B", "C", "D"] { added.append(try await store.edit(AddChannel(channel: .named(name))).value.id) }
            let ids = added
            func positions() async throws -> [Int64?] {
                try await store.storage.snapshot { transaction in
                    try ids.map { try transaction.get($0, from: CubeCollections.channels)?.document.position }
                }
            }
            let before = try await positions()
            let edit = try await store.edit(SetOrder(ids: [ids[0], ids[2], ids[1], ids[3]]))
            #expect(try await positions() == [before[0], before[2], before[1], before[3]])
            #expect(try await store.version() == edit.version)
            #expect(try await store.snapshot().channels.map(\.name) == ["A", "C", "B", "D"])
            let entry = try await store.audit.pendingEntries(limit: 100).last
            #expect(entry?.before == ["ids": .array(ids.map { .string("\($0)") })])
        }
    }

    @Test(
        "An order that lacks an id, or names one that is not there, is a conflict that says which",
        arguments: StoreKind.allCases)
    func incompleteOrder(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            let before = try await store.snapshot()
            let unknown = ObjectID()
            let wrong = [
                (SetOrder(ids: []), channel.id), (SetOrder(ids: [channel.id, unknown]), unknown),
                (SetOrder(channelID: channel.id, ids: [areas[1].id]), areas[0].id),
                (SetOrder(channelID: channel.id, ids: areas.map(\.id) + [subjects[0].id]), subjects[0].id),
                (SetOrder(channelID: channel.id, areaID: areas[0].id, ids: [subjects[0].id]), subjects[1].id),
            ]
            for (command, id) in wrong {
                let failure = await store.refusal(of: command)
                #expect(failure?.status == .conflict && failure?.field == "ids")
                #expect(failure?.message.contains("\(id)") == true)
            }
            #expect(try await store.snapshot() == before)
        }
    }

    @Test(
        "A list, an order or an approval that is based on an old version is refused, also by other edits afterwards",
        arguments: StoreKind.allCases)
    func conflicts(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (whole, areas, subjects) = try await Self.build(store)
            let (channel, area, subject) = (whole.id, areas[0].id, subjects[0].id)
            let seen = try await store.version()
            let inTime: [any RecordedEdit] = [
                SetAccess(channelID: channel, access: Self.names, unchangedSince: seen),
                SetAccess(channelID: channel, areaID: area, access: Self.names, unchangedSince: seen),
                SetApproval(channelID: channel, areaID: area, subjectID: subject, approval: true, unchangedSince: seen),
            ]
            for edit in inTime { try await store.make(edit) }
            let stale: [any RecordedEdit] = [
                SetAccess(channelID: channel, access: [], unchangedSince: seen),
                SetOrder(ids: [channel], unchangedSince: seen),
                SetOrder(channelID: channel, ids: areas.map(\.id), unchangedSince: seen),
                SetOrder(channelID: channel, areaID: area, ids: subjects.map(\.id), unchangedSince: seen),
                SetAccess(channelID: channel, areaID: area, subjectID: subject, access: [], unchangedSince: seen),
                UpdateChannel(channelID: channel, channel: .named("late"), unchangedSince: seen),
            ]
            for edit in stale { #expect(await store.refusal(of: edit)?.status == .conflict, "\(edit)") }
        }
    }

    @Test("Lists of an object that is not there are not found", arguments: StoreKind.allCases)
    func notFound(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, _) = try await Self.build(store)
            let unknown = ObjectID()
            let edits: [any RecordedEdit] = [
                SetAccess(channelID: unknown, access: []), SetAccess(channelID: channel.id, areaID: unknown, access: []),
                SetOrder(channelID: unknown, ids: []), SetOrder(channelID: channel.id, areaID: unknown, ids: []),
                SetApproval(channelID: channel.id, areaID: areas[0].id, subjectID: unknown, approval: true),
            ]
            for edit in edits { #expect(await store.refusal(of: edit)?.status == .notFound, "\(edit)") }
        }
    }
}
