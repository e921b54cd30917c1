import Base
import Store
import Schemas
import TestSupport
import Testing

@testable import Cube

/// Subjects that are moved to another area, in both databases.
@Suite("Moves in the cube", .timeLimit(.minutes(10)))
struct CubeMoveTests {
    private static func move(_ topic: TopicKey, from place: TopicKey? = nil, to other: TopicKey) -> MoveSubject {
        let place = place ?? topic
        return MoveSubject(
            channelID: place.channel, areaID: place.area, subjectID: topic.subject,
            to: SubjectPlace(channel: other.channel, area: other.area))
    }

    private static func place(_ topic: TopicKey, in other: TopicKey) -> TopicKey {
        TopicKey(channel: other.channel, area: other.area, subject: topic.subject)
    }

    @Test(
        "A moved subject is the last one of its new area, keeps everything, and is found by its topic key",
        arguments: StoreKind.allCases)
    func moved(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let (topic, other) = (try await store.build(), try await store.build())
            let names = [try #require(AccountName("ann"))]
            _ = try await store.edit(
                SetAccess(channelID: topic.channel, areaID: topic.area, subjectID: topic.subject, access: names))
            let before = try await store.snapshot()
            let edit = try await store.edit(Self.move(topic, to: other))
            #expect(edit.value == before.channels[0].areas[0].subjects[0] && edit.value.topicKey == topic)
            let after = try await store.snapshot()
            #expect(edit.version == after.version && after.version > before.version)
            #expect(after.channels[0].areas[0].subjects.isEmpty)
            #expect(after.channels[1].areas[0].subjects == before.channels[1].areas[0].subjects + [edit.value])
            let found = try await store.find(FindSubject(topicKey: topic))
            #expect(found.subject == edit.value && found.version == after.version)
            let moved = Self.place(topic, in: other)
            await #expect(throws: CommandFailure.self) { try await store.find(FindSubject(topicKey: moved)) }

            // What is edited at the new place stays there.
            _ = try await store.edit(
                SetApproval(channelID: moved.channel, areaID: moved.area, subjectID: moved.subject, approval: true))
            _ = try await store.edit(
                UpdateSubject(channelID: moved.channel, areaID: moved.area, subjectID: moved.subject, subject: .storms))
            let ids = [moved.subject, other.subject]
            _ = try await store.edit(SetOrder(channelID: moved.channel, areaID: moved.area, ids: ids))
            _ = try await store.edit(DeleteChannel(channelID: topic.channel))
            try await store.close()

            let opened = try await place.open()
            let subjects = try await opened.snapshot().channels[0].areas[0].subjects
            #expect(subjects.map(\.id) == ids && subjects.map(\.topicKey) == [topic, other])
            #expect(subjects[0].approval == true && subjects[0].access == ["ann"])
            // One that is added later comes behind it.
            let added = try await opened.edit(
                AddSubject(channelID: other.channel, areaID: other.area, subject: .storms)
            ).value.id
            let last = try await opened.snapshot().channels[0].areas[0].subjects.map(\.id)
            #expect(last == ids + [added])
            _ = try await opened.edit(DeleteSubject(channelID: moved.channel, areaID: moved.area, subjectID: moved.subject))
            #expect(try await opened.snapshot().channels[0].areas[0].subjects.map(\.id) == [other.subject, added])
            try await opened.close()
        }
    }

    @Test("It is moved within a channel, and back", arguments: StoreKind.allCases)
    func back(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let topic = try await store.build()
            let area = try await store.edit(AddArea(channelID: topic.channel, area: .named("B"))).value.id
            let there = TopicKey(channel: topic.channel, area: area, subject: topic.subject)
            let before = try await store.snapshot().channels
            let subject = before[0].areas[0].subjects[0]
            _ = try await store.edit(Self.move(topic, to: there))
            #expect(try await store.snapshot().channels[0].areas.map(\.subjects) == [[], [subject]])
            _ = try await store.edit(Self.move(topic, from: there, to: topic))
            #expect(try await store.snapshot().channels == before)
            #expect(try await store.find(FindSubject(topicKey: topic)).names.area == "A")
        }
    }

    @Test("A move is not counted again as another program's edit", arguments: StoreKind.allCases)
    func notForeign(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let (topic, other) = (try await store.build(), try await store.build())
            try await withForeignEdits(of: store) { edits in
                let version = try await store.edit(Self.move(topic, to: other)).version
                try await place.rename(topic.channel, "renamed")
                let next = CubeVersion(rawValue: version.rawValue + 1)
                try await eventually { edits.versions == [next] }
                #expect(try await store.version() == next)
            }
            try await store.close()
        }
    }

    @Test(
        "An unknown place is not found, and an old version is a conflict; neither changes anything",
        arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (topic, other) = (try await store.build(), try await store.build())
            let seen = try await store.version()
            _ = try await store.edit(
                UpdateSubject(channelID: topic.channel, areaID: topic.area, subjectID: topic.subject, subject: .storms))
            let before = try await store.snapshot()
            let unknown = TopicKey(channel: topic.channel, area: ObjectID(), subject: topic.subject)
            let nowhere = TopicKey(channel: ObjectID(), area: other.area, subject: topic.subject)
            for command in [
                Self.move(topic, to: unknown), Self.move(topic, to: nowhere), Self.move(topic, from: unknown, to: other),
            ] {
                let failure = await #expect(throws: CommandFailure.self) { try await store.edit(command) }
                #expect(failure?.status == .notFound, "\(command)")
            }
            let stale = MoveSubject(
                channelID: topic.channel, areaID: topic.area, subjectID: topic.subject,
                to: SubjectPlace(channel: other.channel, area: other.area), unchangedSince: seen)
            let failure = await #expect(throws: CommandFailure.self) { try await store.edit(stale) }
            #expect(failure?.status == .conflict)
            #expect(try await store.snapshot() == before)
        }
    }

    @Test("The audit log has the areas, and the lists of a moved subject by its topic key", arguments: StoreKind.allCases)
    func audit(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let (topic, other) = (try await store.build(), try await store.build())
            _ = try await store.edit(Self.move(topic, to: other))
            _ = try await store.edit(
                SetAccess(channelID: other.channel, areaID: other.area, subjectID: topic.subject, access: []))
            let entries = try await store.audit.pendingEntries(limit: 100).suffix(2)
            #expect(entries.map(\.action) == ["subject.move", "access.set"])
            #expect(entries.map(\.object.id) == ["\(topic)", "\(topic)"])
            #expect(entries.first?.before == ["name": "Storms", "area": "\(topic.area)"])
            #expect(entries.first?.after == ["name": "Storms", "area": "\(other.area)"])
        }
    }

    @Test("In MongoDB, a moved subject keeps the fields of other programs")
    func foreignFields() async throws {
        try await withCubePlace(.mongodb) { place in
            let store = try await place.open()
            let (topic, other) = (try await store.build(), try await store.build())
            try await place.withDatabase {
                _ = try $0.update(
                    ["_id": topic.channel.bson], ["$set": ["areas.0.subjects.0.opt.color": "red"]], in: "icube")
            }
            _ = try await store.edit(Self.move(topic, to: other))
            let documents = try await place.withDatabase { try $0.find(["_id": other.channel.bson], in: "icube") }
            let areas = try BSONFields(try #require(documents.first)).parts("areas")
            let subjects = try #require(areas.first).get().parts("subjects")
            #expect(try #require(subjects.last).get().fields("opt")["color"] == "red")
            try await store.close()
        }
    }
}
