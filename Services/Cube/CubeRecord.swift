import Base
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

    /// A change by another program. It is noticed afterwards, so the record says only that the cube has changed.
    static func foreignEdit(_ version: CubeVersion) -> CubeRecord {
        CubeRecord(action: "cube.foreign_edit", object: .cube, after: ["version": .integer(version.rawValue)])
    }
}

/// An object of the cube with its name in the audit log and its own fields.
struct CubeObject {
    let kind: String
    let name: AuditObject
    let access: JSONValue
    var approval: JSONValue = false
    let fields: JSONValue

    init(_ channel: Channel) {
        kind = "channel"
        name = .channel(channel.id)
        access = .texts(channel.access)
        fields = ["name": .string(channel.name), "desc": .string(channel.desc), "access": access]
    }

    init(_ area: Area, in channelID: ObjectID) {
        kind = "area"
        name = .area(area.id, in: channelID)
        access = .texts(area.access)
        fields = ["name": .string(area.name), "desc": .string(area.desc), "access": access]
    }

    init(_ subject: Subject) {
        kind = "subject"
        name = .subject(subject.topicKey)
        access = .texts(subject.access)
        approval = .boolean(subject.approval ?? false)
        fields = [
            "name": .string(subject.name), "desc": .string(subject.desc), "access": access,
            "opt": [
                "level": .string(subject.opt.level.rawValue), "distribution": .string(subject.opt.distribution.rawValue),
            ],
            "tags": .texts(subject.tags), "approval": approval,
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
    static func texts(_ texts: [String]) -> JSONValue {
        .array(texts.map(JSONValue.string))
    }
}
