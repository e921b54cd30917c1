import MongoDatabase
import Schemas

/// A channel as a document of `icube`: the seed's fields, and beside them in channel, area and subject `version`, the change
/// that last touched that object itself, and in the channel `position`, by which channels are sorted.
///
/// Documents that another program has written may lack both: they count as never changed, and come first.
struct ChannelDocument {
    let channel: Channel
    /// By the identifiers of the channel, its areas and its subjects.
    private(set) var versions: [ObjectID: CubeVersion] = [:]

    /// - Throws: ``BSONError`` where a field of the seed's schema is missing or something else.
    init(_ document: BSONDocument) throws {
        let fields = try BSONFields(document)
        let id: ObjectID = try fields.value("_id")
        var areas: [Area] = []
        for area in try fields.list("areas") {
            let areaID: ObjectID = try area.value("id")
            var subjects: [Subject] = []
            for subject in try area.list("subjects") {
                subjects.append(try Subject(subject))
                versions[try subject.value("id")] = try subject.optional("version") ?? 0
            }
            areas.append(
                Area(
                    id: areaID, name: try area.value("name"), desc: try area.value("desc"),
                    access: try area.optional("access") ?? [], subjects: subjects))
            versions[areaID] = try area.optional("version") ?? 0
        }
        channel = Channel(
            id: id, name: try fields.value("name"), desc: try fields.value("desc"), access: try fields.optional("access") ?? [],
            areas: areas)
        versions[id] = try fields.optional("version") ?? 0
    }

    func area(_ id: ObjectID) throws -> Area {
        guard let area = channel.areas.first(where: { $0.id == id }) else {
            throw CommandFailure.noArea(id, in: channel.id)
        }
        return area
    }

    func subject(_ id: ObjectID, in areaID: ObjectID) throws -> Subject {
        guard let subject = try area(areaID).subjects.first(where: { $0.id == id }) else {
            throw CommandFailure.noSubject(id, in: areaID, of: channel.id)
        }
        return subject
    }

    /// Refuses an edit that was begun before the object was last changed.
    func check(_ kind: Kind, _ id: ObjectID, unchangedSince known: CubeVersion?) throws {
        guard let known, let version = versions[id], version > known else { return }
        throw CommandFailure.changed(kind.rawValue, id, in: version, after: known)
    }

    /// Refuses to delete what was changed, at any depth, after its editor looked.
    func checkWithSubjects(of area: Area, unchangedSince known: CubeVersion?) throws {
        try check(.area, area.id, unchangedSince: known)
        for subject in area.subjects { try check(.subject, subject.id, unchangedSince: known) }
    }

    enum Kind: String {
        case channel, area, subject
    }
}

extension Channel {
    /// The channel as a new document, everything in it changed in one version.
    func document(version: CubeVersion, position: Int64) -> BSONDocument {
        [
            "_id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "areas": .array(areas.map { .document($0.document(version: version)) }), "version": .int64(version),
            "position": .int64(position),
        ]
    }
}

extension Area {
    func document(version: CubeVersion) -> BSONDocument {
        [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "subjects": .array(subjects.map { .document($0.document(version: version)) }), "version": .int64(version),
        ]
    }
}

extension Subject {
    fileprivate init(_ fields: BSONFields) throws {
        let opt = try fields.fields("opt")
        self.init(
            id: try fields.value("id"), name: try fields.value("name"), desc: try fields.value("desc"),
            access: try fields.optional("access") ?? [], topicKey: try fields.value("topic_key"),
            opt: SubjectOptions(level: try opt.value("level"), distribution: try opt.value("distribution")),
            tags: try fields.optional("tags") ?? [])
    }

    func document(version: CubeVersion) -> BSONDocument {
        [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "topic_key": topicKey.bson, "opt": .document(opt.document), "tags": tags.bson, "version": .int64(version),
        ]
    }
}

extension SubjectOptions {
    var document: BSONDocument { ["level": level.bson, "distribution": distribution.bson] }
}

extension SubscriptionLevel: BSONConvertible {}
