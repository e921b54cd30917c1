import Schemas
import TestSupport
import Testing

@testable import CubeStorage

/// Access lists, the order of siblings, and approval, in both databases.
@Suite("Lists of the cube", .timeLimit(.minutes(10)))
struct CubeListTests {
    private static func draft(_ name: String) -> NamedDraft { NamedDraft(name: name, desc: "") }
    private static let storms = SubjectDraft(
        name: "Storms", desc: "", opt: SubjectOptions(level: .forced, distribution: .alert))
    private static let names = ["Ann", "bob@example.edu"].compactMap { AccountName($0) }

    /// A channel with two areas, the first of which has two subjects.
    private static func build(
        _ store: any CubeStore
    ) async throws -> (channel: Channel, areas: [Area], subjects: [Subject]) {
        let channel = try await store.add(AddChannel(channel: draft("C"))).value
        var areas: [Area] = []
        for name in ["A", "B"] { areas.append(try await store.add(AddArea(channelID: channel.id, area: draft(name))).value) }
        var subjects: [Subject] = []
        for _ in 0..<2 {
            subjects.append(
                try await store.add(AddSubject(channelID: channel.id, areaID: areas[0].id, subject: storms)).value)
        }
        return (channel, areas, subjects)
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
                let edit = try await store.set(command, by: .ann)
                #expect(edit.value.access.map(\.description) == texts)
                #expect(try await store.version() == edit.version)
            }
            _ = try await store.update(UpdateChannel(channelID: channel.id, channel: Self.draft("C2")))
            _ = try await store.update(UpdateArea(channelID: channel.id, areaID: area, area: Self.draft("A2")))
            _ = try await store.update(
                UpdateSubject(channelID: channel.id, areaID: area, subjectID: subject, subject: Self.storms))
            let stored = try await store.snapshot().channels[0]
            #expect(stored.name == "C2" && stored.access == texts)
            #expect(stored.areas.map(\.access) == [texts, []])
            #expect(stored.areas[0].subjects.map(\.access) == [[], texts])
            let found = try await store.find(FindSubject(topicKey: subjects[1].topicKey))
            #expect(found.subject.access == texts)

            _ = try await store.set(SetAccess(channelID: channel.id, access: []), by: .ann)
            #expect(try await store.snapshot().channels[0].access.isEmpty)
        }
    }

    @Test("A subject's approval is set and reset, and stays when the subject is updated", arguments: StoreKind.allCases)
    func approval(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            func set(_ approval: Bool) async throws -> Approval {
                try await store.set(
                    SetApproval(channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, approval: approval),
                    by: .ann
                ).value
            }
            #expect(try await set(true) == Approval(approval: true))
            _ = try await store.update(
                UpdateSubject(channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, subject: Self.storms))
            #expect(try await store.snapshot().channels[0].areas[0].subjects.map(\.approval) == [true, nil])
            #expect(try await set(false) == Approval(approval: false))
            #expect(try await store.snapshot().channels[0].areas[0].subjects.map(\.approval) == [nil, nil])
        }
    }

    @Test(
        "Channels, areas and subjects are sorted, and those that are added later come last", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, subjects) = try await Self.build(store)
            let others = [
                try await store.add(AddChannel(channel: Self.draft("D"))).value,
                try await store.add(AddChannel(channel: Self.draft("E"))).value,
            ]
            let channels = [others[1].id, channel.id, others[0].id]
            _ = try await store.set(SetOrder(ids: channels), by: .ann)
            _ = try await store.set(SetOrder(channelID: channel.id, ids: areas.map(\.id).reversed()), by: .ann)
            let reply = try await store.set(
                SetOrder(channelID: channel.id, areaID: areas[0].id, ids: subjects.map(\.id).reversed()), by: .ann)
            #expect(reply.value.ids == subjects.map(\.id).reversed())
            let last = try await store.add(AddChannel(channel: Self.draft("F"))).value.id
            let lastArea = try await store.add(AddArea(channelID: channel.id, area: Self.draft("G"))).value.id

            let stored = try await store.snapshot().channels
            #expect(stored.map(\.id) == channels + [last])
            #expect(stored[1].areas.map(\.id) == areas.map(\.id).reversed() + [lastArea])
            #expect(stored[1].areas[1].subjects == subjects.reversed())

            // Again, with the new ones.
            _ = try await store.set(SetOrder(ids: [last] + channels.reversed()), by: .ann)
            #expect(try await store.snapshot().channels.map(\.id) == [last] + channels.reversed())
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
                let failure = await #expect(throws: CommandFailure.self) { try await store.set(command, by: .ann) }
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
            let (channel, areas, subjects) = try await Self.build(store)
            let seen = try await store.version()
            _ = try await store.set(SetAccess(channelID: channel.id, access: Self.names, unchangedSince: seen), by: .ann)
            _ = try await store.set(
                SetAccess(channelID: channel.id, areaID: areas[0].id, access: Self.names, unchangedSince: seen), by: .ann)
            _ = try await store.set(
                SetApproval(
                    channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, approval: true, unchangedSince: seen),
                by: .ann)
            let stale: [() async throws -> Void] = [
                { _ = try await store.set(SetAccess(channelID: channel.id, access: [], unchangedSince: seen), by: .ann) },
                { _ = try await store.set(SetOrder(ids: [channel.id], unchangedSince: seen), by: .ann) },
                {
                    _ = try await store.set(
                        SetOrder(channelID: channel.id, ids: areas.map(\.id), unchangedSince: seen), by: .ann)
                },
                {
                    _ = try await store.set(
                        SetOrder(
                            channelID: channel.id, areaID: areas[0].id, ids: subjects.map(\.id), unchangedSince: seen), by: .ann)
                },
                {
                    _ = try await store.set(
                        SetAccess(
                            channelID: channel.id, areaID: areas[0].id, subjectID: subjects[0].id, access: [],
                            unchangedSince: seen),
                        by: .ann)
                },
                {
                    _ = try await store.update(
                        UpdateChannel(channelID: channel.id, channel: Self.draft("late"), unchangedSince: seen))
                },
            ]
            for (number, edit) in stale.enumerated() {
                let failure = await #expect(throws: CommandFailure.self) { try await edit() }
                #expect(failure?.status == .conflict, "edit \(number)")
            }
        }
    }

    @Test("Lists of an object that is not there are not found", arguments: StoreKind.allCases)
    func notFound(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (channel, areas, _) = try await Self.build(store)
            let unknown = ObjectID()
            let edits: [() async throws -> Void] = [
                { _ = try await store.set(SetAccess(channelID: unknown, access: []), by: .ann) },
                { _ = try await store.set(SetAccess(channelID: channel.id, areaID: unknown, access: []), by: .ann) },
                { _ = try await store.set(SetOrder(channelID: unknown, ids: []), by: .ann) },
                { _ = try await store.set(SetOrder(channelID: channel.id, areaID: unknown, ids: []), by: .ann) },
                {
                    _ = try await store.set(
                        SetApproval(channelID: channel.id, areaID: areas[0].id, subjectID: unknown, approval: true), by: .ann)
                },
            ]
            for (number, edit) in edits.enumerated() {
                let failure = await #expect(throws: CommandFailure.self) { try await edit() }
                #expect(failure?.status == .notFound, "edit \(number)")
            }
        }
    }
}
