import MongoDatabase
import Schemas

/// A channel as a document of `icube`: the seed's fields and two more. Channel, area and subject have `version`, the version of
/// the last change of that object itself. The channel has `position`, the sort key of channels.
///
/// Documents of other programs may lack both. They count as unchanged, and come first. An area or a subject that does not conform
/// to the seed's data dictionary is left out, and the rest of the document is used.
struct ChannelDocument {
    /// The channel without its unreadable parts.
    private(set) var channel: Channel
    private(set) var unreadable: [UnreadablePart] = []
    /// The versions by the identifiers of the channel, its areas and its subjects.
    private(set) var versions: [ObjectID: CubeVersion] = [:]

    /// - Throws: ``BSONError`` if the channel itself cannot be read.
    init(_ document: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(document)
        let id: ObjectID = try fields.value("_id")
        channel = Channel(
            id: id, name: try fields.value("name"), desc: try fields.optional("desc") ?? "", access: try fields.texts("access"))
        versions[id] = try fields.optional("version") ?? .initial
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
                versions[subject.id] = version ?? .initial
            } catch {
                unreadable.append(UnreadablePart(id: part.id, area: id, reason: error.description))
            }
        }
        versions[id] = version ?? .initial
        return area
    }

    /// Reads an `id`, which must be unique within the document.
    private func newIdentifier(_ fields: BSONFields) throws(BSONError) -> ObjectID {
        let id: ObjectID = try fields.value("id")
        guard versions[id] == nil else { throw fields.error("id", "another part of the document has the same one") }
        return id
    }
}

/// An area or a subject that cannot be read. It is not changed.
struct UnreadablePart {
    /// Its identifier, if that can be read.
    let id: ObjectID?
    /// The identifier of the area that it is or belongs to.
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

    /// Refuses an edit of an object that was changed since the editor read it.
    func check(_ kind: Kind, _ id: ObjectID, unchangedSince known: CubeVersion?) throws(CommandFailure) {
        guard let known, let version = versions[id], version > known else { return }
        throw .changed(kind.rawValue, id, in: version, after: known)
    }

    /// Refuses to delete an area that contains an unreadable object, or one that was changed since the editor read it.
    func checkWithSubjects(of area: Area, unchangedSince known: CubeVersion?) throws(CommandFailure) {
        if let part = unreadable.first(where: { $0.area == area.id }) {
            throw .unreadable("something in area \(area.id) of channel \(channel.id)", part.reason, field: "areaID")
        }
        try check(.area, area.id, unchangedSince: known)
        for subject in area.subjects { try check(.subject, subject.id, unchangedSince: known) }
    }

    /// Refuses to delete a channel for the same reasons.
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
    /// The identifier of a part, if it can be read.
    fileprivate var id: ObjectID? {
        do {
            return try get().optional("id")
        } catch {
            return nil
        }
    }
}

extension Subject {
    /// - Parameter topicKey: The topic key of the identifiers on its path (seed, "Data Dictionary", `topic_key`).
    fileprivate init(_ fields: BSONFields, _ topicKey: TopicKey) throws(BSONError) {
        guard try fields.value("topic_key") == topicKey else { throw fields.error("topic_key", "expected \"\(topicKey)\"") }
        let opt = try fields.fields("opt")
        self.init(
            id: topicKey.subject, name: try fields.value("name"), desc: try fields.optional("desc") ?? "",
            access: try fields.texts("access"), topicKey: topicKey,
            opt: SubjectOptions(level: try opt.optional("level") ?? .optional, distribution: try opt.value("distribution")),
            tags: try fields.texts("tags"), approval: try fields.optional("approval"))
    }
}
