import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

/// Finds rows and assembles them to objects. With ``UnreadableDocuments``, an unreadable row and its children are left out;
/// otherwise it is an error.
enum CubeQueries {
    static func version(in database: Database) throws -> CubeVersion {
        try CubeVersion.fetchOne(database, sql: "SELECT version FROM cube") ?? .initial
    }

    /// Counts one more change.
    static func nextVersion(in database: Database) throws -> CubeVersion {
        try database.execute(sql: "UPDATE cube SET version = version + 1")
        return try version(in: database)
    }

    /// The size of the cube after the last change.
    static func storedSize(in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT size FROM cube")
    }

    /// Measures the whole cube.
    static func size(in database: Database, _ unreadable: UnreadableDocuments) throws -> Int64 {
        try CubeSize.of(snapshot(of: database, unreadable).channels)
    }

    static func snapshot(of database: Database, _ unreadable: UnreadableDocuments) throws -> CubeSnapshot {
        let subjects = Dictionary(grouping: try rows(SubjectRow.all(), in: database, unreadable), by: \.areaID)
        let areas = Dictionary(grouping: try rows(AreaRow.all(), in: database, unreadable), by: \.channelID)
        let channels = try rows(ChannelRow.all(), in: database, unreadable).map { channel in
            channel.channel(
                with: (areas[channel.id] ?? []).map { area in
                    area.area(with: (subjects[area.id] ?? []).map(\.subject))
                })
        }
        return CubeSnapshot(version: try version(in: database), channels: channels)
    }

    static func channel(_ id: ObjectID, in database: Database) throws -> ChannelRow {
        guard let row = try ChannelRow.filter(Column("id") == id).fetchOne(database) else {
            throw CommandFailure.noChannel(id)
        }
        return row
    }

    static func area(_ id: ObjectID, of channelID: ObjectID, in database: Database) throws -> AreaRow {
        let channel = try channel(channelID, in: database)
        guard let row = try AreaRow.filter(Column("id") == id && Column("channelID") == channel.id).fetchOne(database) else {
            throw CommandFailure.noArea(id, in: channelID)
        }
        return row
    }

    static func subject(
        _ id: ObjectID, of areaID: ObjectID, of channelID: ObjectID, in database: Database
    ) throws -> SubjectRow {
        let area = try area(areaID, of: channelID, in: database)
        guard let row = try SubjectRow.filter(Column("id") == id && Column("areaID") == area.id).fetchOne(database) else {
            throw CommandFailure.noSubject(id, in: areaID, of: channelID)
        }
        return row
    }

    static func subject(of topicKey: TopicKey, in database: Database) throws -> FindSubject.Reply {
        guard let subject = try SubjectRow.filter(Column("topicKey") == topicKey).fetchOne(database) else {
            throw CommandFailure.noSubject(of: topicKey)
        }
        let names = CubeNames(
            channel: try channel(topicKey.channel, in: database).name,
            area: try area(subject.areaID, of: topicKey.channel, in: database).name, subject: subject.name)
        return FindSubject.Reply(version: try version(in: database), subject: subject.subject, names: names)
    }

    static func areas(
        of channelID: ObjectID, in database: Database, _ unreadable: UnreadableDocuments? = nil
    ) throws -> [Area] {
        try rows(AreaRow.filter(Column("channelID") == channelID), in: database, unreadable).map { row in
            row.area(with: try subjects(of: row.id, in: database, unreadable))
        }
    }

    static func subjects(
        of areaID: ObjectID, in database: Database, _ unreadable: UnreadableDocuments? = nil
    ) throws -> [Subject] {
        try rows(SubjectRow.filter(Column("areaID") == areaID), in: database, unreadable).map(\.subject)
    }

    /// Rows in the order of their creation.
    private static func rows<R: CubeRow>(
        _ request: QueryInterfaceRequest<R>, in database: Database, _ unreadable: UnreadableDocuments?
    ) throws -> [R] {
        let rows = try Row.fetchAll(database, request.order(Column("position")))
        guard let unreadable else { return try rows.map { try R(row: $0) } }
        return try unreadable.readable(of: rows, named: "id") { try R(row: $0) }
    }
}
