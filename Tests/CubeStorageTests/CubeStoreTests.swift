import Schemas
import TestSupport
import Testing

@testable import CubeStorage

/// The requirements of every store of the cube, for both databases.
@Suite("Cube store", .timeLimit(.minutes(10)))
struct CubeStoreTests {
    private static let storms = SubjectDraft(
        name: "Storms", desc: "Closures", opt: SubjectOptions(level: .forced, distribution: .alert))

    @Test("A new cube is empty, at version 0", arguments: StoreKind.allCases)
    func empty(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let snapshot = try await store.snapshot()
            #expect(snapshot == CubeSnapshot(version: 0, channels: []))
        }
    }

    @Test(
        "Channels, areas and subjects keep the order in which they were added, each with its own id and topic key",
        arguments: StoreKind.allCases)
    func build(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let one = try await store.add(AddChannel(channel: NamedDraft(name: "One", desc: "1")))
            let two = try await store.add(AddChannel(channel: NamedDraft(name: "Two", desc: "")))
            let area = try await store.add(AddArea(channelID: one.value.id, area: NamedDraft(name: "Weather", desc: "w")))
            let first = try await store.add(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: Self.storms))
            let second = try await store.add(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: Self.storms))

            #expect([one.version, two.version, area.version, first.version, second.version] == [1, 2, 3, 4, 5])
            #expect(one.value == Channel(id: one.value.id, name: "One", desc: "1"))
            #expect(
                first.value.topicKey
                    == TopicKey(channel: one.value.id, area: area.value.id, subject: first.value.id))
            #expect(first.value.access.isEmpty && first.value.tags.isEmpty)
            let expected = Channel(
                id: one.value.id, name: "One", desc: "1",
                areas: [Area(id: area.value.id, name: "Weather", desc: "w", subjects: [first.value, second.value])])
            #expect(try await store.snapshot() == CubeSnapshot(version: 5, channels: [expected, two.value]))
        }
    }

    @Test("An update replaces the fields of an object and keeps the objects inside it", arguments: StoreKind.allCases)
    func update(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: NamedDraft(name: "C", desc: "c"))).value
            let area = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "A", desc: "a"))).value
            let subject = try await store.add(
                AddSubject(channelID: channel.id, areaID: area.id, subject: Self.storms)
            ).value

            let newArea = try await store.update(
                UpdateArea(channelID: channel.id, areaID: area.id, area: NamedDraft(name: "A2", desc: "")))
            #expect(newArea.value == Area(id: area.id, name: "A2", desc: "", subjects: [subject]))
            let newChannel = try await store.update(
                UpdateChannel(channelID: channel.id, channel: NamedDraft(name: "C2", desc: "c2")))
            #expect(newChannel.value == Channel(id: channel.id, name: "C2", desc: "c2", areas: [newArea.value]))
            let draft = SubjectDraft(name: "S2", desc: "", opt: SubjectOptions(level: .optional, distribution: .information))
            let newSubject = try await store.update(
                UpdateSubject(channelID: channel.id, areaID: area.id, subjectID: subject.id, subject: draft)
            ).value
            #expect(newSubject.opt == draft.opt)
            #expect(newSubject.name == "S2")
            #expect(newSubject.topicKey == subject.topicKey)
        }
    }

    @Test("A deletion also deletes the objects inside, and nothing else", arguments: StoreKind.allCases)
    func delete(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: NamedDraft(name: "C", desc: ""))).value
            let kept = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "Kept", desc: ""))).value
            let gone = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "Gone", desc: ""))).value
            let subject = try await store.add(
                AddSubject(channelID: channel.id, areaID: gone.id, subject: Self.storms)
            ).value
            _ = try await store.delete(DeleteArea(channelID: channel.id, areaID: gone.id))
            #expect(try await store.snapshot().channels.first?.areas == [kept])
            await #expect(throws: CommandFailure.self) {
                try await store.delete(DeleteSubject(channelID: channel.id, areaID: gone.id, subjectID: subject.id))
            }
            let last = try await store.delete(DeleteChannel(channelID: channel.id))
            #expect(try await store.snapshot() == CubeSnapshot(version: last.version, channels: []))
        }
    }

    @Test(
        "An object that does not exist, or has another parent, is not found, and nothing changes", arguments: StoreKind.allCases)
    func notFound(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: NamedDraft(name: "C", desc: ""))).value
            let other = try await store.add(AddChannel(channel: NamedDraft(name: "O", desc: ""))).value
            let area = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "A", desc: ""))).value
            let before = try await store.snapshot()
            let unknown = ObjectID()

            func failure(_ work: () async throws -> Void) async -> CommandFailure? {
                do {
                    try await work()
                    return nil
                } catch {
                    return error as? CommandFailure
                }
            }
            let failures = [
                await failure { _ = try await store.delete(DeleteChannel(channelID: unknown)) },
                await failure { _ = try await store.add(AddArea(channelID: unknown, area: NamedDraft(name: "N", desc: ""))) },
                await failure { _ = try await store.delete(DeleteArea(channelID: other.id, areaID: area.id)) },
                await failure {
                    _ = try await store.add(AddSubject(channelID: other.id, areaID: area.id, subject: Self.storms))
                },
                await failure {
                    _ = try await store.update(
                        UpdateSubject(channelID: channel.id, areaID: area.id, subjectID: unknown, subject: Self.storms))
                },
            ]
            #expect(failures.map { $0?.status } == Array(repeating: .notFound, count: 5))
            #expect(failures[2]?.message == "no area \(area.id) in channel \(other.id)")
            #expect(try await store.snapshot() == before)
        }
    }

    @Test(
        "An edit or a deletion at an old version of the object is refused; changes of other objects do not matter",
        arguments: StoreKind.allCases)
    func conflicts(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: NamedDraft(name: "C", desc: ""))).value
            let area = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "A", desc: "")))
            let seen = area.version
            _ = try await store.update(UpdateChannel(channelID: channel.id, channel: NamedDraft(name: "C2", desc: "")))
            // The channel was changed after `seen`, but the area was not.
            let renamed = try await store.update(
                UpdateArea(
                    channelID: channel.id, areaID: area.value.id, area: NamedDraft(name: "A2", desc: ""), unchangedSince: seen))
            await #expect(throws: CommandFailure.self) {
                try await store.update(
                    UpdateArea(
                        channelID: channel.id, areaID: area.value.id, area: NamedDraft(name: "A3", desc: ""),
                        unchangedSince: seen))
            }
            // An area is not deleted if it has a subject that the editor has not seen.
            _ = try await store.add(AddSubject(channelID: channel.id, areaID: area.value.id, subject: Self.storms))
            await #expect(throws: CommandFailure.self) {
                try await store.delete(
                    DeleteArea(channelID: channel.id, areaID: area.value.id, unchangedSince: renamed.version))
            }
            await #expect(throws: CommandFailure.self) {
                try await store.delete(DeleteChannel(channelID: channel.id, unchangedSince: renamed.version))
            }
            #expect(try await store.snapshot().channels.first?.areas.first?.name == "A2")
        }
    }

    @Test("None of two hundred concurrent changes is lost", arguments: StoreKind.allCases)
    func concurrent(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: NamedDraft(name: "C", desc: ""))).value
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        _ = try await store.add(AddArea(channelID: channel.id, area: NamedDraft(name: "\(number)", desc: "")))
                    }
                    group.addTask {
                        _ = try await store.update(
                            UpdateChannel(channelID: channel.id, channel: NamedDraft(name: "N\(number)", desc: "")))
                    }
                }
                try await group.waitForAll()
            }
            let snapshot = try await store.snapshot()
            #expect(snapshot.version == 201)
            #expect(Set(snapshot.channels[0].areas.map(\.name)) == Set((0..<100).map { "\($0)" }))
        }
    }

    @Test("The cube and its version are still there when the store is opened again", arguments: StoreKind.allCases)
    func reopen(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            _ = try await store.add(AddChannel(channel: NamedDraft(name: "C \"q\" 🎓", desc: "ق")))
            let before = try await store.snapshot()
            try await store.close()
            let again = try await place.open()
            #expect(try await again.snapshot() == before)
            try await again.close()
        }
    }

    @Test(
        "A copied cube can fill an empty store, with its identifiers, order and version, and no other store",
        arguments: StoreKind.allCases)
    func restore(_ kind: StoreKind) async throws {
        let (channel, area) = (ObjectID(), ObjectID())
        let subjects = (0..<2).map { number in
            let topic = TopicKey(channel: channel, area: area, subject: ObjectID())
            return Subject(
                id: topic.subject, name: "S\(number)", desc: "d", access: ["ann"], topicKey: topic,
                opt: SubjectOptions(level: .recommended, distribution: .information), tags: ["t"])
        }
        let snapshot = CubeSnapshot(
            version: 41,
            channels: [
                Channel(
                    id: channel, name: "C", desc: "c", access: ["ben"],
                    areas: [Area(id: area, name: "A", desc: "a", access: ["cem"], subjects: subjects)]),
                Channel(id: ObjectID(), name: "Empty", desc: ""),
            ])
        try await withCubeStore(kind) { store in
            try await store.restore(snapshot)
            #expect(try await store.snapshot() == snapshot)
            try await store.restore(snapshot)
            #expect(try await store.snapshot() == snapshot)

            let edit = try await store.add(AddArea(channelID: channel, area: NamedDraft(name: "New", desc: "")))
            #expect(edit.version == 42)
            await #expect(throws: CommandFailure.self) { try await store.restore(snapshot) }
            let rename = UpdateChannel(channelID: channel, channel: NamedDraft(name: "C2", desc: "c"), unchangedSince: 40)
            await #expect(throws: CommandFailure.self, "everything counts as changed in the restored version") {
                try await store.update(rename)
            }
        }
    }
}
