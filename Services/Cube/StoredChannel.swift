import Store
import Schemas

/// A channel as a document of `icube`: the seed's fields and three more. Channel, area and subject have `version`, the version of
/// the last change of that object itself. The channel has `position`, the sort key of channels. A subject that is not where its topic
/// key says has `moved`.
///
/// Documents of other programs may lack them. They count as unchanged, and come first. An area or a subject that does not conform
/// to the seed's data dictionary is left out, and the rest of the document is used.
struct StoredChannel: StoredDocument {
    /// The channel without its unreadable parts.
    private(set) var channel: Channel
    private(set) var unreadable: [UnreadablePart] = []
    /// The versions of the channel, its areas and its subjects, as far as they are stored.
    private(set) var versions: [ObjectID: CubeVersion] = [:]
    /// The sort key of channels, rounded down.
    var position: Int64? {
        didSet { fraction = 0 }
    }
    /// What another program has stored beyond the rounded ``position``.
    private(set) var fraction = 0.0
    /// The stored document.
    private let document: BSONDocument
    /// The stored documents of subjects that come from another area, and how they are read.
    private var movedHere: [ObjectID: (stored: BSONDocument, read: BSONDocument)] = [:]

    var id: ObjectID { channel.id }

    /// As ``BSONDocument/fingerprint``, of the document as it was read.
    var fingerprint: UInt64 { get throws { try document.fingerprint } }

    /// Channels without a position come first.
    var sortKey: (Int64, Double, ObjectID) { (position ?? .min, fraction, id) }

    /// A new channel.
    init(_ channel: Channel, version: CubeVersion, position: Int64) {
        self.channel = channel
        self.position = position
        document = [:]
        for id in channel.objectIDs { versions[id] = version }
    }

    init(from decoder: any Decoder) throws {
        try self.init(BSONDocument(from: decoder))
    }

    /// - Throws: ``BSONError`` if the channel itself cannot be read.
    private init(_ document: BSONDocument) throws(BSONError) {
        self.document = document
        let fields = try BSONFields(document)
        let id: ObjectID = try fields.value("_id")
        channel = Channel(
            id: id, name: try fields.value("name"), desc: try fields.optional("desc") ?? "", access: try fields.texts("access"))
        versions[id] = try fields.optional("version")
        (position, fraction) = try fields.position
        // Also those of unreadable parts.
        var ids: Set<ObjectID> = [id]
        for part in try fields.parts("areas") {
            do throws(BSONError) {
                channel.areas.append(try readArea(part.get(), &ids))
            } catch {
                unreadable.append(UnreadablePart(id: part.id, area: part.id, reason: error.description))
            }
        }
    }

    private mutating func readArea(_ fields: BSONFields, _ ids: inout Set<ObjectID>) throws(BSONError) -> Area {
        let id = try fields.newID(&ids)
        var area = Area(
            id: id, name: try fields.value("name"), desc: try fields.optional("desc") ?? "", access: try fields.texts("access"))
        let version: CubeVersion? = try fields.optional("version")
        for part in try fields.parts("subjects") {
            do throws(BSONError) {
                let fields = try part.get()
                let place = TopicKey(channel: channel.id, area: id, subject: try fields.newID(&ids))
                let (subject, version) = (try Subject(fields, at: place), try fields.optional("version", as: CubeVersion.self))
                area.subjects.append(subject)
                versions[subject.id] = version
            } catch {
                unreadable.append(UnreadablePart(id: part.id, area: id, reason: error.description))
            }
        }
        versions[id] = version
        return area
    }

    var omission: String? {
        guard let part = unreadable.first else { return nil }
        return unreadable.count == 1 ? part.reason : "\(part.reason); and \(unreadable.count - 1) more of its parts"
    }

    // MARK: Edits

    /// Changes the channel. All new objects count as changed.
    ///
    /// - Parameters:
    ///   - version: The version that the change makes.
    ///   - changed: Another object that counts as changed; `nil` if there is none.
    ///   - sources: The channels from which objects have been taken in the same edit.
    mutating func change<Value>(
        in version: CubeVersion, _ changed: ObjectID?, movingFrom sources: [StoredChannel],
        _ change: (inout Channel) throws(CommandFailure) -> Value
    ) throws -> Value {
        let known = channel.objectIDs
        let value = try change(&channel)
        for id in channel.objectIDs where id == changed || !known.contains(id) {
            versions[id] = version
            for source in sources { movedHere[id] = movedHere[id] ?? source.subjectDocument(id) }
        }
        return value
    }

    /// The document of a subject, and how it is read; `nil` if it is not there.
    private func subjectDocument(_ id: ObjectID) -> (stored: BSONDocument, read: BSONDocument)? {
        for area in channel.areas {
            guard let subject = area.subjects.first(where: { $0.id == id }) else { continue }
            let stored = document.part(area.id, of: "areas")?.part(id, of: "subjects")
            return stored.map { ($0, document(of: subject, in: area.id)) }
        }
        return nil
    }

    // MARK: The document

    func encode(to encoder: any Encoder) throws {
        var fields: [(String, BSONValue)] = [
            ("_id", id.bson), ("name", .string(channel.name)), ("desc", .string(channel.desc)), ("access", channel.access.bson),
            ("areas", .array(try channel.areas.map { .document(try document(of: $0)) })),
        ]
        if let version = versions[id] { fields.append(("version", version.bson)) }
        if let position { fields.append(("position", .int64(position))) }
        try BSONDocument(fields).encode(to: encoder)
    }

    private func document(of area: Area) throws -> BSONDocument {
        let subjects = try area.subjects.map { subject in
            let document = document(of: subject, in: area.id)
            // The stored document may have fields of other programs.
            return BSONValue.document(
                try movedHere[subject.id].map { try $0.stored.merged(from: $0.read, to: document) } ?? document)
        }
        var fields: [(String, BSONValue)] = [
            ("id", area.id.bson), ("name", .string(area.name)), ("desc", .string(area.desc)), ("access", area.access.bson),
            ("subjects", .array(subjects)),
        ]
        if let version = versions[area.id] { fields.append(("version", version.bson)) }
        return BSONDocument(fields)
    }

    private func document(of subject: Subject, in areaID: ObjectID) -> BSONDocument {
        var fields: [(String, BSONValue)] = [
            ("id", subject.id.bson), ("name", .string(subject.name)), ("desc", .string(subject.desc)),
            ("access", subject.access.bson), ("topic_key", subject.topicKey.bson),
            ("opt", ["level": subject.opt.level.bson, "distribution": subject.opt.distribution.bson]),
            ("tags", subject.tags.bson),
        ]
        if let version = versions[subject.id] { fields.append(("version", version.bson)) }
        if let approval = subject.approval { fields.append(("approval", .bool(approval))) }
        let place = TopicKey(channel: channel.id, area: areaID, subject: subject.id)
        if subject.topicKey != place { fields.append(("moved", true)) }
        return BSONDocument(fields)
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

extension Channel {
    /// The identifiers of the channel and of everything in it.
    fileprivate var objectIDs: Set<ObjectID> {
        areas.reduce(into: [id]) { ids, area in
            ids.insert(area.id)
            ids.formUnion(area.subjects.lazy.map(\.id))
        }
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

extension BSONDocument {
    /// The element of an array with an identifier, the first of several.
    fileprivate func part(_ id: ObjectID, of array: String) -> BSONDocument? {
        guard case .array(let parts)? = try? BSONFields(self)[array] else { return nil }
        return parts.lazy.compactMap { BSONDocument(bson: $0) }.first { (try? BSONFields($0).value("id")) == id }
    }
}

extension BSONFields {
    /// The `position` of another program may be any number, and anything else counts as none: it hides no channel.
    fileprivate var position: (Int64?, fraction: Double) {
        get throws(BSONError) {
            switch try self["position"] {
            case .int32(let number): return (Int64(number), 0)
            case .int64(let number): return (number, 0)
            case .double(let number) where !number.isNaN:
                let whole = number.rounded(.down)
                guard let position = Int64(exactly: whole) else { return (number < 0 ? .min : .max, 0) }
                return (position, number - whole)
            default: return (nil, 0)
            }
        }
    }

    /// Reads an `id`, which must be unique within the document.
    ///
    /// - Parameter ids: The other ones.
    fileprivate func newID(_ ids: inout Set<ObjectID>) throws(BSONError) -> ObjectID {
        let id: ObjectID = try value("id")
        guard ids.insert(id).inserted else { throw error("id", "another part of the document has the same one") }
        return id
    }
}

extension Subject {
    /// - Parameter place: The identifiers on its path. They are its topic key (seed, "Data Dictionary", `topic_key`), unless it was moved.
    fileprivate init(_ fields: BSONFields, at place: TopicKey) throws(BSONError) {
        let topicKey: TopicKey = try fields.value("topic_key")
        let isMoved = topicKey.subject == place.subject && (try? fields.optional("moved", as: Bool.self)) == true
        guard topicKey == place || isMoved else {
            throw fields.error("topic_key", "expected \"\(place)\"")
        }
        let opt = try fields.fields("opt")
        self.init(
            id: topicKey.subject, name: try fields.value("name"), desc: try fields.optional("desc") ?? "",
            access: try fields.texts("access"), topicKey: topicKey,
            opt: SubjectOptions(level: try opt.optional("level") ?? .optional, distribution: try opt.value("distribution")),
            tags: try fields.texts("tags"), approval: try fields.optional("approval"))
    }
}

extension SubscriptionLevel: BSONConvertible {}

extension CubeVersion: BSONConvertible {}
