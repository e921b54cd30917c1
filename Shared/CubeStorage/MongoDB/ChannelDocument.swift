import MongoDatabase
import Schemas

/// A channel as a document of `icube`: the seed's fields, and beside them in channel, area and subject `version`, the change
/// that last touched that object itself, and in the channel `position`, by which channels are sorted.
///
/// Documents that another program has written may lack both: they count as never changed, and come first. An area or a subject that
/// is not what the seed's data dictionary allows is left out, and the rest of the document is used.
struct ChannelDocument {
    /// Without the unreadable parts.
    private(set) var channel: Channel
    private(set) var unreadable: [UnreadablePart] = []
    /// By the identifiers of the channel, its areas and its subjects.
    private(set) var versions: [ObjectID: CubeVersion] = [:]

    /// - Throws: ``BSONError`` where the channel itself cannot be read.
    init(_ document: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(document)
        let id: ObjectID = try fields.value("_id")
        channel = Channel(
            id: id, name: try fields.value("name"), desc: try fields.optional("desc") ?? "", access: try fields.texts("access"))
        versions[id] = try fields.optional("version") ?? 0
        for part in try fields.parts("areas") {
            do throws(BSONError) {
                let area = try area(part.get(), in: id)
                channel.areas.append(area)
            } catch {
                unreadable.append(UnreadablePart(id: part.id, area: part.id, reason: error.description))
            }
        }
    }

    private mutating func area(_ fields: BSONFields, in channel: ObjectID) throws(BSONError) -> Area {
        let id = try newIdentifier(fields)
        var area = Area(
            id: id, name: try fields.value("name"), desc: try fields.optional("desc") ?? "", access: try fields.texts("access"))
        let version: CubeVersion? = try fields.optional("version")
        for part in try fields.parts("subjects") {
            do throws(BSONError) {
                let fields = try part.get()
                let topicKey = TopicKey(channel: channel, area: id, subject: try newIdentifier(fields))
                let (subject, version) = (try Subject(fields, topicKey), try fields.optional("version", as: CubeVersion.self))
                area.subjects.append(subject)
                versions[subject.id] = version ?? 0
            } catch {
                unreadable.append(UnreadablePart(id: part.id, area: id, reason: error.description))
            }
        }
        versions[id] = version ?? 0
        return area
    }

    /// An `id` that no other part of the document has.
    private func newIdentifier(_ fields: BSONFields) throws(BSONError) -> ObjectID {
        let id: ObjectID = try fields.value("id")
        guard versions[id] == nil else { throw fields.error("id", "another part of the document has the same one") }
        return id
    }
}

/// An area or a subject that cannot be read. It is left as it is.
struct UnreadablePart {
    /// Its own identifier, where that can be read.
    let id: ObjectID?
    /// That of the area which it is, or is in.
    let area: ObjectID?
    let reason: String
}

extension ChannelDocument {
    func area(_ id: ObjectID) throws(CommandFailure) -> Area {
        if let part = unreadable.first(where: { $0.id == id && $0.area == id }) {
            throw .unreadable("area \(id) in channel \(channel.id)", part.reason, field: "areaID")
        }
        guard let area = channel.areas.first(where: { $0.id == id }) else { throw .noArea(id, in: channel.id) }
        return area
    }

    func subject(_ id: ObjectID, in areaID: ObjectID) throws(CommandFailure) -> Subject {
        let area = try area(areaID)
        if let part = unreadable.first(where: { $0.id == id && $0.area == areaID }) {
            throw .unreadable("subject \(id) in area \(areaID) of channel \(channel.id)", part.reason, field: "subjectID")
        }
        guard let subject = area.subjects.first(where: { $0.id == id }) else {
            throw .noSubject(id, in: areaID, of: channel.id)
        }
        return subject
    }

    /// Refuses an edit that was begun before the object was last changed.
    func check(_ kind: Kind, _ id: ObjectID, unchangedSince known: CubeVersion?) throws(CommandFailure) {
        guard let known, let version = versions[id], version > known else { return }
        throw .changed(kind.rawValue, id, in: version, after: known)
    }

    /// Refuses to delete an area with something in it that was changed after its editor looked, or that its editor cannot have seen.
    func checkWithSubjects(of area: Area, unchangedSince known: CubeVersion?) throws(CommandFailure) {
        if let part = unreadable.first(where: { $0.area == area.id }) {
            throw .unreadable("something in area \(area.id) of channel \(channel.id)", part.reason, field: "areaID")
        }
        try check(.area, area.id, unchangedSince: known)
        for subject in area.subjects { try check(.subject, subject.id, unchangedSince: known) }
    }

    /// The same for the whole channel.
    func checkWithAreas(unchangedSince known: CubeVersion?) throws(CommandFailure) {
        if let part = unreadable.first {
            throw .unreadable("something in channel \(channel.id)", part.reason, field: "channelID")
        }
        try check(.channel, channel.id, unchangedSince: known)
        for area in channel.areas { try checkWithSubjects(of: area, unchangedSince: known) }
    }

    enum Kind: String {
        case channel, area, subject
    }
}

extension Result<BSONFields, BSONError> {
    /// The identifier of a part, where it can be read.
    fileprivate var id: ObjectID? {
        do {
            return try get().optional("id")
        } catch {
            return nil
        }
    }
}

extension Subject {
    /// - Parameter topicKey: What the seed makes of the identifiers on its path.
    fileprivate init(_ fields: BSONFields, _ topicKey: TopicKey) throws(BSONError) {
        guard try fields.value("topic_key") == topicKey else { throw fields.error("topic_key", "expected \"\(topicKey)\"") }
        let opt = try fields.fields("opt")
        self.init(
            id: topicKey.subject, name: try fields.value("name"), desc: try fields.optional("desc") ?? "",
            access: try fields.texts("access"), topicKey: topicKey,
            opt: SubjectOptions(level: try opt.optional("level") ?? .optional, distribution: try opt.value("distribution")),
            tags: try fields.texts("tags"))
    }
}
