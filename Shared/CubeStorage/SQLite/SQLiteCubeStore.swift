import EmbeddedDatabase
import GRDB
package import Schemas

/// The cube in SQLite, one row for each channel, area and subject.
package struct SQLiteCubeStore: CubeStore {
    private let database: EmbeddedDatabase

    /// - Throws: ``CommandFailure`` with status `unavailable` when the file cannot be used.
    package init(path: String) throws {
        database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: CubeTables.register)
    }

    package func close() throws {
        try database.close()
    }

    package func version() async throws -> CubeVersion {
        try await database.read { try CubeQueries.version(in: $0) }
    }

    package func snapshot() async throws -> CubeSnapshot {
        try await database.read { try CubeQueries.snapshot(of: $0) }
    }

    package func add(_ command: AddChannel) async throws -> CubeEdit<Channel> {
        try await edit { database, version in
            let channel = Channel(id: ObjectID(), name: command.channel.name, desc: command.channel.desc)
            try ChannelRow(channel, version: version).insert(database)
            return channel
        }
    }

    package func update(_ command: UpdateChannel) async throws -> CubeEdit<Channel> {
        try await edit { database, version in
            var row = try CubeQueries.channel(command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            row.name = command.channel.name
            row.desc = command.channel.desc
            row.version = version
            try row.update(database)
            return try row.channel(with: CubeQueries.areas(of: row.id, in: database))
        }
    }

    package func delete(_ command: DeleteChannel) async throws -> CubeEdit<Done> {
        try await edit { database, _ in
            let row = try CubeQueries.channel(command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            for area in try AreaRow.filter(Column("channelID") == row.id).fetchAll(database) {
                try area.checkWithSubjects(unchangedSince: command.unchangedSince, in: database)
            }
            try row.delete(database)
            return Done()
        }
    }

    package func add(_ command: AddArea) async throws -> CubeEdit<Area> {
        try await edit { database, version in
            let channel = try CubeQueries.channel(command.channelID, in: database)
            let area = Area(id: ObjectID(), name: command.area.name, desc: command.area.desc)
            try AreaRow(area, channelID: channel.id, version: version).insert(database)
            return area
        }
    }

    package func update(_ command: UpdateArea) async throws -> CubeEdit<Area> {
        try await edit { database, version in
            var row = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            row.name = command.area.name
            row.desc = command.area.desc
            row.version = version
            try row.update(database)
            return try row.area(with: CubeQueries.subjects(of: row.id, in: database))
        }
    }

    package func delete(_ command: DeleteArea) async throws -> CubeEdit<Done> {
        try await edit { database, _ in
            let row = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            try row.checkWithSubjects(unchangedSince: command.unchangedSince, in: database)
            try row.delete(database)
            return Done()
        }
    }

    package func add(_ command: AddSubject) async throws -> CubeEdit<Subject> {
        try await edit { database, version in
            let area = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            let topicKey = TopicKey(channel: area.channelID, area: area.id, subject: ObjectID())
            let subject = Subject(
                id: topicKey.subject, name: command.subject.name, desc: command.subject.desc, topicKey: topicKey,
                opt: command.subject.opt)
            try SubjectRow(subject, version: version).insert(database)
            return subject
        }
    }

    package func update(_ command: UpdateSubject) async throws -> CubeEdit<Subject> {
        try await edit { database, version in
            var row = try CubeQueries.subject(command.subjectID, of: command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            row.name = command.subject.name
            row.desc = command.subject.desc
            row.level = command.subject.opt.level
            row.distribution = command.subject.opt.distribution
            row.version = version
            try row.update(database)
            return row.subject
        }
    }

    package func delete(_ command: DeleteSubject) async throws -> CubeEdit<Done> {
        try await edit { database, _ in
            let row = try CubeQueries.subject(command.subjectID, of: command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            try row.delete(database)
            return Done()
        }
    }

    package func restore(_ snapshot: CubeSnapshot) async throws {
        try await database.write { database in
            let stored = try CubeQueries.snapshot(of: database)
            guard stored != snapshot else { return }
            guard stored == CubeSnapshot(version: 0, channels: []) else {
                throw CommandFailure.anotherCube(at: stored.version)
            }
            for channel in snapshot.channels {
                try ChannelRow(channel, version: snapshot.version).insert(database)
                for area in channel.areas {
                    try AreaRow(area, channelID: channel.id, version: snapshot.version).insert(database)
                    for subject in area.subjects {
                        try SubjectRow(subject, version: snapshot.version).insert(database)
                    }
                }
            }
            try database.execute(sql: "UPDATE cube SET version = ?", arguments: [snapshot.version])
        }
    }

    /// One change: everything in it is committed together with the version that it makes.
    private func edit<Value: Codable & Hashable & Sendable>(
        _ change: @escaping @Sendable (Database, CubeVersion) throws -> Value
    ) async throws -> CubeEdit<Value> {
        try await database.write { database in
            try database.execute(sql: "UPDATE cube SET version = version + 1")
            let version = try CubeQueries.version(in: database)
            return CubeEdit(version: version, value: try change(database, version))
        }
    }
}

extension CubeRow {
    /// Refuses an edit that was begun before the row was last changed.
    fileprivate func check(unchangedSince known: CubeVersion?) throws {
        guard let known, version > known else { return }
        throw CommandFailure.changed(Self.databaseTableName, id, in: version, after: known)
    }
}

extension AreaRow {
    /// Refuses to delete what was changed, at any depth, after its editor looked.
    fileprivate func checkWithSubjects(unchangedSince known: CubeVersion?, in database: Database) throws {
        try check(unchangedSince: known)
        guard known != nil else { return }
        for subject in try SubjectRow.filter(Column("areaID") == id).fetchAll(database) {
            try subject.check(unchangedSince: known)
        }
    }
}
