import GRDB
import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Cube

/// The requirements of every store of the cube, for both databases.
@Suite("Cube store", .timeLimit(.minutes(10)))
struct CubeStoreTests {
    @Test(
        "A new cube is empty, at version 0; objects keep the order in which they were added, each with its own id and topic key",
        arguments: StoreKind.allCases)
    func build(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            #expect(try await store.snapshot() == CubeSnapshot(version: 0, channels: []))
            let one = try await store.edit(AddChannel(channel: NamedDraft(name: "One", desc: "1")))
            let two = try await store.edit(AddChannel(channel: .named("Two")))
            let area = try await store.edit(AddArea(channelID: one.value.id, area: NamedDraft(name: "Weather", desc: "w")))
            let first = try await store.edit(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: .storms))
            let second = try await store.edit(AddSubject(channelID: one.value.id, areaID: area.value.id, subject: .storms))

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
            let channel = try await store.edit(AddChannel(channel: NamedDraft(name: "C", desc: "c"))).value
            let area = try await store.edit(AddArea(channelID: channel.id, area: NamedDraft(name: "A", desc: "a"))).value
            let subject = try await store.edit(AddSubject(channelID: channel.id, areaID: area.id, subject: .storms)).value

            let newArea = try await store.edit(UpdateArea(channelID: channel.id, areaID: area.id, area: .named("A2")))
            #expect(newArea.value == Area(id: area.id, name: "A2", desc: "", subjects: [subject]))
            let newChannel = try await store.edit(UpdateChannel(channelID: channel.id, channel: .named("C2", desc: "c2")))
            #expect(newChannel.value == Channel(id: channel.id, name: "C2", desc: "c2", areas: [newArea.value]))
            let draft = SubjectDraft(name: "S2", desc: "", opt: SubjectOptions(level: .optional, distribution: .information))
            let newSubject = try await store.edit(
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
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value
            let kept = try await store.edit(AddArea(channelID: channel.id, area: .named("Kept"))).value
            let gone = try await store.edit(AddArea(channelID: channel.id, area: .named("Gone"))).value
            let subject = try await store.edit(AddSubject(channelID: channel.id, areaID: gone.id, subject: .storms)).value
            _ = try await store.edit(DeleteArea(channelID: channel.id, areaID: gone.id))
            #expect(try await store.snapshot().channels.first?.areas == [kept])
            let again = DeleteSubject(channelID: channel.id, areaID: gone.id, subjectID: subject.id)
            #expect(await store.refusal(of: again)?.status == .notFound)
            let last = try await store.edit(DeleteChannel(channelID: channel.id))
            #expect(try await store.snapshot() == CubeSnapshot(version: last.version, channels: []))
        }
    }

    @Test(
        "An object that does not exist, or has another parent, is not found, and nothing changes", arguments: StoreKind.allCases)
    func notFound(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let topic = try await store.build()
            let (channel, area, subject) = (topic.channel, topic.area, topic.subject)
            let other = try await store.edit(AddChannel(channel: .named("O"))).value.id
            let before = try await store.snapshot()
            let unknown = ObjectID()
            let named = NamedDraft.named("N")
            let edits: [any RecordedEdit] = [
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
            _ = try await store.edit(UpdateChannel(channelID: channel, channel: .named("C2")))
            // The channel was changed after `seen`, but the area was not.
            let renamed = try await store.edit(renameArea("A2", unchangedSince: seen)).version
            let draft = SubjectDraft(name: "S2", desc: "", opt: SubjectDraft.storms.opt)
            let renameSubject = UpdateSubject(
                channelID: channel, areaID: area, subjectID: subject, subject: draft, unchangedSince: seen)
            _ = try await store.edit(renameSubject)
            // Its subject was changed, but the area itself was not.
            let latest = try await store.edit(renameArea("A3", unchangedSince: renamed)).version
            // An area is not deleted if it has a subject that the editor has not seen.
            _ = try await store.edit(AddSubject(channelID: channel, areaID: area, subject: .storms))
            let stale: [any RecordedEdit] = [
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
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    let (area, name) = (NamedDraft.named("\(number)"), NamedDraft.named("N\(number)"))
                    group.addTask {
                        try await untilTaken { _ = try await store.edit(AddArea(channelID: channel.id, area: area)) }
                    }
                    group.addTask {
                        try await untilTaken { _ = try await store.edit(UpdateChannel(channelID: channel.id, channel: name)) }
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
            _ = try await store.edit(AddChannel(channel: NamedDraft(name: "C \"q\" 🎓", desc: "ق")))
            let before = try await store.snapshot()
            try await store.close()
            let again = try await place.open()
            #expect(try await again.snapshot() == before)
            try await again.close()
        }
    }

    @Test(
        "After a restore all objects count as changed in the restored version, and edits go on from there",
        arguments: StoreKind.allCases)
    func restored(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let topic = try await store.build()
            _ = try await store.storage.transaction { transaction in
                try transaction.update(CubeState.id, in: CubeCollections.state) { ($0.version, $0.restored) = (1_000, 1_000) }
            }
            let late = UpdateArea(channelID: topic.channel, areaID: topic.area, area: .named("late"), unchangedSince: 999)
            #expect(await store.refusal(of: late)?.status == .conflict)
            let edit = try await store.edit(
                UpdateArea(channelID: topic.channel, areaID: topic.area, area: .named("A2"), unchangedSince: 1_000))
            #expect(edit.version == 1_001)
        }
    }

    @Test("The edit that copies are told, made to the cube before it, gives the cube after it", arguments: StoreKind.allCases)
    func told(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (topic, other) = (try await store.build(), try await store.build())
            let (channel, area) = (topic.channel, topic.area)
            let edits: [any RecordedEdit] = [
                AddChannel(channel: .named("N")), UpdateChannel(channelID: channel, channel: .named("C2", desc: "🎓")),
                AddArea(channelID: channel, area: .named("B")), UpdateArea(channelID: channel, areaID: area, area: .named("A2")),
                AddSubject(channelID: channel, areaID: area, subject: .storms),
                UpdateSubject(channelID: channel, areaID: area, subjectID: topic.subject, subject: .storms),
                SetAccess(channelID: channel, areaID: area, access: [try #require(AccountName("ann"))]),
                SetApproval(channelID: channel, areaID: area, subjectID: topic.subject, approval: true),
                MoveSubject(
                    channelID: channel, areaID: area, subjectID: topic.subject,
                    to: SubjectPlace(channel: other.channel, area: other.area)),
                SetOrder(channelID: other.channel, areaID: other.area, ids: [topic.subject, other.subject]),
                DeleteSubject(channelID: other.channel, areaID: other.area, subjectID: other.subject),
                DeleteArea(channelID: channel, areaID: area), DeleteChannel(channelID: channel),
            ]
            func check(_ edit: some RecordedEdit) async throws {
                var channels = try await store.snapshot().channels
                let event: CubeChanged = try JSONCoder.decode(
                    from: try JSONCoder.encode(try await store.edit(edit, by: .ann).event))
                try #require(event.edit).apply(to: &channels)
                let after = try await store.snapshot()
                #expect(after == CubeSnapshot(version: event.version, channels: channels), "\(edit)")
                #expect(try event.digest == CubeDigest(of: channels), "\(edit)")
                #expect(try await store.announced().digest == event.digest)
            }
            for edit in edits { try await check(edit) }
            try await check(SetOrder(ids: store.snapshot().channels.map(\.id).reversed()))
        }
    }

    @Test(
        "A new name that Unicode counts as the same is stored with its bytes, and is no edit of another program",
        arguments: StoreKind.allCases)
    func equalNames(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let channel = try await store.edit(AddChannel(channel: .named("Caf\u{E9}"))).value.id
            let update = UpdateChannel(channelID: channel, channel: .named("Cafe\u{301}"))
            let event = try await store.edit(update, by: .ann).event
            let stored = try await store.snapshot().channels
            #expect(stored.map { Array($0.name.utf8) } == [Array("Cafe\u{301}".utf8)])
            #expect(try event.digest == CubeDigest(of: stored))
            #expect(try await store.storage.snapshot { try $0.isCubeAsMeasured() })
            try await store.close()
        }
    }

    @Test("A file of a version before 1.0 is refused, and not read as an empty cube")
    func formerFile() async throws {
        try await withCubePlace(.sqlite) { place in
            let file = try DatabaseQueue(path: place.folder + "/cube.sqlite")
            try await file.write { try $0.execute(sql: "CREATE TABLE cube (id INTEGER PRIMARY KEY, version INTEGER)") }
            try file.close()
            let failure = try await #require(throws: CommandFailure.self) { _ = try await place.open() }
            #expect(failure.status == .unavailable && failure.message.contains("cube.sqlite is no store of this version"))
        }
    }
}

/// Repeats an edit that has waited too long for a slow server: it is refused, and was not made.
private func untilTaken(_ edit: @Sendable () async throws -> Void) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
        do {
            return try await edit()
        } catch let failure as CommandFailure where failure.status == .overloaded && ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
