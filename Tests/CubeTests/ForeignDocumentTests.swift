import Store
import Schemas
import TestSupport
import Testing

@testable import Cube

/// Documents of other programs in `icube`, valid and invalid.
@Suite("Foreign documents of the cube", .timeLimit(.minutes(10)))
struct ForeignDocumentTests {
    private let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    /// The required fields of a subject.
    private func subject(_ id: ObjectID, and fields: [(String, BSONValue)] = []) -> BSONDocument {
        let topic = TopicKey(channel: topic.channel, area: topic.area, subject: id)
        let own: [(String, BSONValue)] = [
            ("id", id.bson), ("name", "S"), ("topic_key", topic.bson), ("opt", ["distribution": "Alert", "color": "red"]),
        ]
        return BSONDocument(own.filter { field in !fields.contains { $0.0 == field.0 } } + fields)
    }

    private func area(_ id: ObjectID, _ subjects: [BSONDocument]) -> BSONDocument {
        ["id": id.bson, "name": "A", "subjects": subjects.bson]
    }

    private func channel(_ id: ObjectID, _ areas: BSONValue, name: BSONValue = "C") -> BSONDocument {
        ["_id": id.bson, "name": name, "areas": areas, "note": "mine"]
    }

    /// Runs a test with a store of another program's documents.
    private func withDocuments(
        _ documents: [BSONDocument], _ body: (CubeStore, CubePlace, RecordedLog) async throws -> Void
    ) async throws {
        try await withCubePlace(.mongodb) { place in
            try await place.withDatabase { connection in
                let errors = try connection.insert(documents, into: "icube")
                #expect(errors.allSatisfy { $0 == nil })
            }
            let log = RecordedLog()
            let store = try await place.open(logger: log.logger)
            try await body(store, place, log)
            try await store.close()
        }
    }

    @Test("Everything that the seed's data dictionary allows is read: identifiers of any kind, and absent fields")
    func allowed() async throws {
        let reader = ObjectID()
        let full = subject(
            topic.subject,
            and: [("access", [reader.bson, "ann", 7, .int64(8), .double(9)]), ("tags", ["exam", 2, true]), ("desc", "d")])
        let bare = ObjectID()
        let documents: [BSONDocument] = [
            channel(
                topic.channel, [.document(area(topic.area, [full, subject(bare)])), ["id": ObjectID().bson, "name": "bare"]]),
            ["_id": ObjectID().bson, "name": "bare", "access": [reader.bson]],
        ]
        try await withDocuments(documents) { store, _, log in
            let channels = try await store.snapshot().channels.sorted { $0.areas.count > $1.areas.count }
            #expect(channels.map(\.areas.count) == [2, 0] && channels[1].access == [reader.description])
            let subjects = channels[0].areas[0].subjects
            let opt = SubjectOptions(level: .optional, distribution: .alert)
            #expect(
                subjects == [
                    Subject(
                        id: topic.subject, name: "S", desc: "d", access: [reader.description, "ann", "7", "8", "9"],
                        topicKey: topic, opt: opt, tags: ["exam", "2", "true"]),
                    Subject(
                        id: bare, name: "S", desc: "",
                        topicKey: TopicKey(channel: topic.channel, area: topic.area, subject: bare),
                        opt: opt),
                ])
            #expect(try await store.find(FindSubject(topicKey: topic)).subject == subjects[0])
            // A missing array of subjects is created.
            let draft = SubjectDraft(name: "N", desc: "", opt: opt)
            let added = try await store.edit(
                AddSubject(channelID: topic.channel, areaID: channels[0].areas[1].id, subject: draft)
            ).value
            #expect(try await store.find(FindSubject(topicKey: added.topicKey)).subject == added)
            #expect(log.louderThanDebug.isEmpty, "\(log.louderThanDebug)")
        }
    }

    @Test("Documents that it does not allow are left out and named in the log once; the rest of the cube is used")
    func leftOut() async throws {
        let (bad, twice) = (ObjectID(), ObjectID())
        let subjects: [BSONDocument] = [
            subject(topic.subject), subject(bad, and: [("opt", ["distribution": "Loud"])]),
            subject(ObjectID(), and: [("tags", [["nested": 1]])]), subject(ObjectID(), and: [("topic_key", "elsewhere")]),
            subject(twice), subject(twice),
        ]
        let badArea = ObjectID()
        let documents: [BSONDocument] = [
            channel(
                topic.channel,
                [
                    .document(area(topic.area, subjects)), ["id": badArea.bson, "name": "A", "subjects": "many"], 7,
                    ["id": topic.area.bson, "name": "the same id"],
                ]),
            channel(ObjectID(), [], name: 7), ["_id": "a text", "name": "C", "areas": []], channel(ObjectID(), "many"),
        ]
        try await withDocuments(documents) { store, _, log in
            for _ in 0..<3 {
                let channels = try await store.snapshot().channels
                #expect(channels.map(\.id) == [topic.channel] && channels[0].areas.map(\.id) == [topic.area])
                #expect(channels[0].areas[0].subjects.map(\.id) == [topic.subject, twice])
            }
            let lines = log.louderThanDebug
            #expect(lines.count == 4 && lines.allSatisfy { $0.contains("cannot be used and is left out") }, "\(lines)")
            #expect(lines.contains { $0.contains("\(topic.channel)") && $0.contains("areas.0.subjects.1.opt.distribution") })
            #expect(try await store.find(FindSubject(topicKey: topic)).subject.id == topic.subject)
            let unreadable = TopicKey(channel: topic.channel, area: topic.area, subject: bad)
            let failure = await #expect(throws: CommandFailure.self) { try await store.find(FindSubject(topicKey: unreadable)) }
            #expect(failure?.status == .notFound)
            // The readable channels can still be changed.
            let new = try await store.edit(AddChannel(channel: .named("New"))).value
            let changed = try await store.edit(UpdateChannel(channelID: topic.channel, channel: .named("C2"))).value
            #expect(try await store.snapshot().channels == [changed, new])
        }
    }

    @Test("Documents that cannot be read are neither changed nor deleted, and unknown fields are kept")
    func kept() async throws {
        let (bad, badArea, badChannel) = (ObjectID(), ObjectID(), ObjectID())
        let documents: [BSONDocument] = [
            channel(
                topic.channel,
                [
                    .document(area(topic.area, [subject(topic.subject), subject(bad, and: [("name", 7)])])),
                    ["id": badArea.bson, "desc": "without a name"],
                ]),
            channel(badChannel, [], name: 7),
        ]
        try await withDocuments(documents) { store, place, _ in
            let named = NamedDraft.named("N")
            let draft = SubjectDraft(name: "N", desc: "", opt: SubjectOptions(level: .forced, distribution: .information))
            let (channel, area) = (topic.channel, topic.area)
            let refused: [(String, any RecordedEdit)] = [
                ("channelID", UpdateChannel(channelID: badChannel, channel: named)),
                ("channelID", DeleteChannel(channelID: badChannel)),
                ("channelID", AddArea(channelID: badChannel, area: named)),
                // With parts that cannot be read.
                ("channelID", DeleteChannel(channelID: channel)), ("areaID", DeleteArea(channelID: channel, areaID: area)),
                ("areaID", UpdateArea(channelID: channel, areaID: badArea, area: named)),
                ("areaID", DeleteArea(channelID: channel, areaID: badArea)),
                ("areaID", AddSubject(channelID: channel, areaID: badArea, subject: draft)),
                ("subjectID", UpdateSubject(channelID: channel, areaID: area, subjectID: bad, subject: draft)),
                ("subjectID", DeleteSubject(channelID: channel, areaID: area, subjectID: bad)),
            ]
            let before = try await stored(place)
            for (field, change) in refused {
                let failure = await store.refusal(of: change)
                #expect(failure?.status == .conflict && failure?.field == field, "\(change): \(failure as Any)")
                #expect(failure?.message.contains("cannot be read (field ") == true, "\(change): \(failure as Any)")
            }
            #expect(try await stored(place) == before)

            // An object without a version is that of the version 0.
            _ = try await store.edit(
                UpdateSubject(channelID: channel, areaID: area, subjectID: topic.subject, subject: draft, unchangedSince: 0))
            _ = try await store.edit(UpdateArea(channelID: channel, areaID: area, area: named))
            _ = try await store.edit(UpdateChannel(channelID: channel, channel: named))
            let changed = try BSONFields(try #require(try await stored(place).first { $0.identifier == "\(channel)" }))
            let areas = try changed.list("areas")
            let subjects = try areas[0].list("subjects")
            #expect(try changed["note"] == "mine")
            #expect(try areas[1]["desc"] == "without a name")
            #expect(try subjects[0].fields("opt")["color"] == "red")
            #expect(try subjects[0].fields("opt")["level"] == "Forced")
            #expect(try subjects[1]["name"] == 7)
        }
    }

    @Test("A position may be any number, and one that is none does not hide its channel")
    func positions() async throws {
        let positions: [(String, BSONValue)] = [
            ("text", "3"), ("below", .double(-0.5)), ("one", .int32(1)), ("between", .double(1.5)), ("two", .int64(2)),
            ("huge", .double(1e300)),
        ]
        let documents = positions.map { name, position -> BSONDocument in
            ["_id": ObjectID().bson, "name": name.bson, "position": position]
        }
        try await withDocuments(documents.reversed()) { store, place, log in
            #expect(try await store.snapshot().channels.map(\.name) == positions.map(\.0))
            #expect(log.louderThanDebug.isEmpty, "\(log.louderThanDebug)")
            // An edit of something else leaves the position as it is.
            let channels = try await store.snapshot().channels
            try await store.edit(UpdateChannel(channelID: channels[3].id, channel: .named("still between")))
            let names = try await store.snapshot().channels.map(\.name)
            #expect(names == ["text", "below", "one", "still between", "two", "huge"])
            let ids = Array(channels.map(\.id).reversed())
            try await store.edit(SetOrder(ids: ids))
            #expect(try await store.snapshot().channels.map(\.id) == ids)
            #expect(try await store.countForeignEdit() == nil)
        }
    }

    @Test("An object with an unreadable duplicate is neither moved nor deleted: the duplicate would be taken for it")
    func duplicates() async throws {
        let (other, target, targetArea) = (ObjectID(), ObjectID(), ObjectID())
        let documents: [BSONDocument] = [
            channel(
                topic.channel,
                [
                    .document(area(topic.area, [subject(topic.subject)])),
                    ["id": other.bson, "name": "B", "subjects": [["id": topic.subject.bson, "name": "another"]]],
                ]),
            channel(target, [.document(area(targetArea, []))]),
        ]
        try await withDocuments(documents) { store, place, _ in
            let (channel, area, subject) = (topic.channel, topic.area, topic.subject)
            func move(to place: SubjectPlace) -> MoveSubject {
                MoveSubject(channelID: channel, areaID: area, subjectID: subject, to: place)
            }
            let refused: [any RecordedEdit] = [
                move(to: SubjectPlace(channel: channel, area: other)), move(to: SubjectPlace(channel: target, area: targetArea)),
                DeleteSubject(channelID: channel, areaID: area, subjectID: subject), DeleteArea(channelID: channel, areaID: area),
            ]
            let before = try await stored(place)
            for edit in refused {
                let failure = await store.refusal(of: edit)
                #expect(failure?.status == .conflict && failure?.message.contains("\(subject)") == true, "\(failure as Any)")
            }
            #expect(try await stored(place) == before)
            // Its other edits change nothing else.
            try await store.edit(SetApproval(channelID: channel, areaID: area, subjectID: subject, approval: true))
            #expect(try await store.snapshot().channels.first { $0.id == channel }?.areas[0].subjects[0].approval == true)
        }
    }

    private func stored(_ place: CubePlace) async throws -> [BSONDocument] {
        try await place.withDatabase { try $0.find([:], in: "icube", options: ["sort": ["_id": 1]]) }
    }
}
