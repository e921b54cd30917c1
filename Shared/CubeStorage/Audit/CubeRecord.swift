import JSON
import Schemas

/// A change of an object of the cube, as the audit log records it.
struct CubeRecord: Sendable {
    let action: String
    let object: AuditObject
    var before: JSONValue?
    var after: JSONValue?

    func entry(by author: AuditAuthor) -> AuditEntry {
        AuditEntry(by: author, action: action, object: object, before: before, after: after)
    }

    static func added(_ object: CubeObject) -> CubeRecord {
        CubeRecord(action: "\(object.kind).add", object: object.name, after: object.fields)
    }

    static func updated(_ former: CubeObject, to object: CubeObject) -> CubeRecord {
        CubeRecord(action: "\(object.kind).update", object: object.name, before: former.fields, after: object.fields)
    }

    static func deleted(_ object: CubeObject) -> CubeRecord {
        CubeRecord(action: "\(object.kind).delete", object: object.name, before: object.fields)
    }

    /// The records of an area with its subjects.
    static func deleted(_ area: Area, in channelID: ObjectID) -> [CubeRecord] {
        [.deleted(CubeObject(area, in: channelID))] + area.subjects.map { .deleted(CubeObject($0)) }
    }

    /// The records of a channel with everything in it.
    static func deleted(_ channel: Channel) -> [CubeRecord] {
        [.deleted(CubeObject(channel))] + channel.areas.flatMap { deleted($0, in: channel.id) }
    }

    /// A change by another program. It is noticed afterwards, so the record says only that the cube has changed.
    static func foreignEdit(_ version: CubeVersion) -> CubeRecord {
        CubeRecord(action: "cube.foreign_edit", object: .cube, after: ["version": .integer(version.rawValue)])
    }
}

/// An object of the cube with its name in the audit log and its own fields.
struct CubeObject {
    let kind: String
    let name: AuditObject
    let fields: JSONValue

    init(_ channel: Channel) {
        kind = "channel"
        name = .channel(channel.id)
        fields = ["name": .string(channel.name), "desc": .string(channel.desc), "access": .texts(channel.access)]
    }

    init(_ area: Area, in channelID: ObjectID) {
        kind = "area"
        name = .area(area.id, in: channelID)
        fields = ["name": .string(area.name), "desc": .string(area.desc), "access": .texts(area.access)]
    }

    init(_ subject: Subject) {
        kind = "subject"
        name = .subject(subject.topicKey)
        fields = [
            "name": .string(subject.name), "desc": .string(subject.desc), "access": .texts(subject.access),
            "opt": [
                "level": .string(subject.opt.level.rawValue), "distribution": .string(subject.opt.distribution.rawValue),
            ],
            "tags": .texts(subject.tags), "approval": .boolean(subject.approval ?? false),
        ]
    }
}

extension AuditObject {
    /// The list of the channels.
    static let cube = AuditObject(kind: "cube", id: "cube")

    static func channel(_ id: ObjectID) -> AuditObject {
        AuditObject(kind: "channel", id: "\(id)")
    }

    static func area(_ id: ObjectID, in channelID: ObjectID) -> AuditObject {
        AuditObject(kind: "area", id: "\(channelID)-\(id)")
    }

    static func subject(_ topicKey: TopicKey) -> AuditObject {
        AuditObject(kind: "subject", id: "\(topicKey)")
    }
}

extension JSONValue {
    fileprivate static func texts(_ texts: [String]) -> JSONValue {
        .array(texts.map(JSONValue.string))
    }
}
