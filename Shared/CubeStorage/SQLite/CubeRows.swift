import EmbeddedDatabase
import GRDB
import Schemas

/// In SQLite a version is its number.
extension CubeVersion: DatabaseValueConvertible {}

/// A row of the cube: a channel, an area or a subject, without its children.
protocol CubeRow: Codable, FetchableRecord, PersistableRecord {
    var position: Int64? { get }
    var id: ObjectID { get }
    var version: CubeVersion { get set }
    /// The row's share of the cube's size.
    var size: Int64 { get throws }
    /// The row for the audit log.
    var object: CubeObject { get }
}

struct ChannelRow: CubeRow {
    static let databaseTableName = "channel"

    var position: Int64?
    var id: ObjectID
    var name: String
    var desc: String
    var access: [String]
    var version: CubeVersion

    init(_ channel: Channel, version: CubeVersion) {
        id = channel.id
        name = channel.name
        desc = channel.desc
        access = channel.access
        self.version = version
    }

    var size: Int64 {
        get throws { try CubeSize.of(channel(with: [])) }
    }

    var object: CubeObject { CubeObject(channel(with: [])) }

    func channel(with areas: [Area]) -> Channel {
        Channel(id: id, name: name, desc: desc, access: access, areas: areas)
    }
}

struct AreaRow: CubeRow {
    static let databaseTableName = "area"

    var position: Int64?
    var id: ObjectID
    var channelID: ObjectID
    var name: String
    var desc: String
    var access: [String]
    var version: CubeVersion

    init(_ area: Area, channelID: ObjectID, version: CubeVersion) {
        id = area.id
        self.channelID = channelID
        name = area.name
        desc = area.desc
        access = area.access
        self.version = version
    }

    var size: Int64 {
        get throws { try CubeSize.of(area(with: [])) }
    }

    var object: CubeObject { CubeObject(area(with: []), in: channelID) }

    func area(with subjects: [Subject]) -> Area {
        Area(id: id, name: name, desc: desc, access: access, subjects: subjects)
    }
}

struct SubjectRow: CubeRow {
    static let databaseTableName = "subject"

    var position: Int64?
    var id: ObjectID
    var areaID: ObjectID
    var topicKey: TopicKey
    var name: String
    var desc: String
    var access: [String]
    var level: SubscriptionLevel
    var distribution: Distribution
    var tags: [String]
    /// `nil` for `false`.
    var approval: Bool?
    var version: CubeVersion

    init(_ subject: Subject, version: CubeVersion) {
        id = subject.id
        areaID = subject.topicKey.area
        topicKey = subject.topicKey
        name = subject.name
        desc = subject.desc
        access = subject.access
        level = subject.opt.level
        distribution = subject.opt.distribution
        tags = subject.tags
        approval = subject.approval
        self.version = version
    }

    var size: Int64 {
        get throws { try CubeSize.of(subject) }
    }

    var object: CubeObject { CubeObject(subject) }

    var subject: Subject {
        Subject(
            id: id, name: name, desc: desc, access: access, topicKey: topicKey,
            opt: SubjectOptions(level: level, distribution: distribution), tags: tags, approval: approval)
    }
}
