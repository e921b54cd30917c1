import Schemas
import TestSupport
import Testing

@testable import CubeStorage

/// The requirements of every store of the cube, for both databases.
@Suite("Cube store", .timeLimit(.minutes(10)))
struct CubeStoreTests {
    @Test(
        "A new cube is empty, at version 0; objects keep the order in which they were added, each with its own id and topic key",
        arguments: StoreKind.allCases)
    func build(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            #expect(try await store.snapshot() == CubeSnapshot(version: 0, channels: []))
            let one = try await store.add(AddChannel(channel: NamedDraft(name: "One", desc: "1")))
            let two = try await store.add(AddChannel(channel: .named("Two")))
            let area = try await store.add(AddArea(channelID: one.value.id, area: NamedDraft(name: "Weather", desc: "w")))
            let first = try await store.add(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: .storms))
            let second = try await store.add(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: .storms))

            #expect([one.version, two.version, area.version, first.version, second.version] == [1, 2, 3, 4, 5])
            #expect(one.value == Channel(id: one.value.id, name: "One", desc: "1"))
            let topic = TopicKey(channel: one.value.id, area: area.value.id, subject: first.value.id)
            let draft = SubjectDraft.storms
            #expect(
                first.value == Subject(id: topic.subject, name: draft.name, desc: draft.desc, topicKey: topic, opt: draft.opt))
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
            let subject = try await store.add(AddSubject(channelID: channel.id, areaID: area.id, subject: .storms)).value

            let newArea = try await store.update(UpdateArea(channelID: channel.id, areaID: area.id, area: .named("A2")))
            #expect(newArea.value == Area(id: area.id, name: "A2", desc: "", subjects: [subject]))
            let newChannel = try await store.update(UpdateChannel(channelID: channel.id, channel: .named("C2", desc: "c2")))
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
            let channel = try await store.add(AddChannel(channel: .named("C"))).value
            let kept = try await store.add(AddArea(channelID: channel.id, area: .named("Kept"))).value
            let gone = try await store.add(AddArea(channelID: channel.id, area: .named("Gone"))).value
            let subject = try await store.add(AddSubject(channelID: channel.id, areaID: gone.id, subject: .storms)).value
            _ = try await store.delete(DeleteArea(channelID: channel.id, areaID: gone.id))
            #expect(try await store.snapshot().channels.first?.areas == [kept])
            let again = DeleteSubject(channelID: channel.id, areaID: gone.id, subjectID: subject.id)
            #expect(await store.refusal(of: again)?.status == .notFound)
            let last = try await store.delete(DeleteChannel(channelID: channel.id))
            #expect(try await store.snapshot() == CubeSnapshot(version: last.version, channels: []))
        }
    }

    @Test(
        "An object that does not exist, or has another parent, is not found, and nothing changes", arguments: StoreKind.allCases)
    func notFound(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let topic = try await store.build()
            let (channel, area, subject) = (topic.channel, topic.area, topic.subject)
            let other = try await store.add(AddChannel(channel: .named("O"))).value.id
            let before = try await store.snapshot()
            let unknown = ObjectID()
            let named = NamedDraft.named("N")
            let edits: [any Command] = [
                UpdateChannel(channelID: unknown, channel: named), DeleteChannel(channelID: unknown),
                AddArea(channelID: unknown, area: named), UpdateArea(channelID: other, areaID: area, area: named),
                UpdateArea(channelID: channel, areaID: unknown, area: named), DeleteArea(channelID: other, areaID: area),
                AddSubject(channelID: other, areaID: area, subject: .storms),
                UpdateSubject(channelID: other, areaID: area, subjectID: subject, subject: .storms),
                UpdateSubject(channelID: channel, areaID: area, subjectID: unknown, subject: .storms),
                DeleteSubject(channelID: channel, areaID: unknown, subjectID: subject),
            ]
            for edit in edits {
                let failure = await store.refusal(of: edit)
                #expect(failure?.status == .notFound && failure?.message.isEmpty == false, "\(edit)")
            }
            let message = await store.refusal(of: DeleteArea(channelID: other, areaID: area))?.message
            #expect(message == "no area \(area) in channel \(other)")
            #expect(try await store.snapshot() == before)
        }
    }

    @Test(
        "An edit or a deletion at an old version of the object is refused; changes of other objects do not matter",
        arguments: StoreKind.allCases)
    func conflicts(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let topic = try await store.build()
            let (channel, area, subject) = (topic.channel, topic.area, topic.subject)
            let seen = try await store.version()
            func renameArea(_ name: String, unchangedSince version: CubeVersion) -> UpdateArea {
                UpdateArea(channelID: channel, areaID: area, area: .named(name), unchangedSince: version)
            }
            _ = try await store.update(UpdateChannel(channelID: channel, channel: .named("C2")))
            // The channel was changed after `seen`, but the area was not.
            let renamed = try await store.update(renameArea("A2", unchangedSince: seen)).version
            let draft = SubjectDraft(name: "S2", desc: "", opt: SubjectDraft.storms.opt)
            let renameSubject = UpdateSubject(
                channelID: channel, areaID: area, subjectID: subject, subject: draft, unchangedSince: seen)
            _ = try await store.update(renameSubject)
            // Its subject was changed, but the area itself was not.
            let latest = try await store.update(renameArea("A3", unchangedSince: renamed)).version
            // An area is not deleted if it has a subject that the editor has not seen.
            _ = try await store.add(AddSubject(channelID: channel, areaID: area, subject: .storms))
            let stale: [any Command] = [
                renameArea("A4", unchangedSince: seen), renameSubject,
                DeleteSubject(channelID: channel, areaID: area, subjectID: subject, unchangedSince: seen),
                DeleteArea(channelID: channel, areaID: area, unchangedSince: latest),
                DeleteChannel(channelID: channel, unchangedSince: latest),
            ]
            for edit in stale { #expect(await store.refusal(of: edit)?.status == .conflict, "\(edit)") }
            let stored = try await store.snapshot().channels[0].areas[0]
            #expect(stored.name == "A3" && stored.subjects.map(\.name) == ["S2", "Storms"])
        }
    }

    @Test("None of two hundred concurrent changes is lost", arguments: StoreKind.allCases)
    func concurrent(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.add(AddChannel(channel: .named("C"))).value
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    let (area, name) = (NamedDraft.named("\(number)"), NamedDraft.named("N\(number)"))
                    group.addTask { _ = try await store.add(AddArea(channelID: channel.id, area: area)) }
                    group.addTask { _ = try await store.update(UpdateChannel(channelID: channel.id, channel: name)) }
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

            #expect(try await store.add(AddArea(channelID: channel, area: .named("New"))).version == 42)
            await #expect(throws: CommandFailure.self) { try await store.restore(snapshot) }
            // Everything counts as changed in the restored version.
            let rename = UpdateChannel(channelID: channel, channel: .named("C2"), unchangedSince: 40)
            #expect(await store.refusal(of: rename)?.status == .conflict)
        }
    }
}
