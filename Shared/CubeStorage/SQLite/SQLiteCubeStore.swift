import DedicatedThread
import EmbeddedDatabase
import GRDB
package import Logging
package import Schemas
import Synchronization
package import UnreadableDocuments

/// The cube in SQLite, one row for each channel, area and subject.
package final class SQLiteCubeStore: CubeStore {
    let database: EmbeddedDatabase
    private let sizeLimit: CubeSizeLimit
    private let unreadable: UnreadableDocuments

    private struct Known {
        /// Whether the stored size is known to be right. Another program or an older version may have changed the cube while the
        /// store was closed.
        var isMeasured = false
        /// The last value of SQLite's `data_version`, which changes with other connections' commits.
        var dataVersion: Int64?
        /// The version of the cube at that time, or after the last change by this store.
        var version: CubeVersion?
    }

    private let known = Mutex(Known())
    private let versions = RepeatedRead<CubeVersion>()
    private let noForeignEdit = RepeatedRead<CubeVersion?>(reusing: { $0 == nil })
    let noPendingAudit = RepeatedRead<[PendingAuditEntry]>(reusing: \.isEmpty)
    private static let pauseBetweenLooks = Duration.seconds(1)

    /// - Parameter unreadable: How a snapshot treats unreadable rows.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used.
    package init(
        path: String, sizeLimit: CubeSizeLimit, unreadable: UnreadableDocument = .skipped, logger: Logger
    ) throws {
        self.sizeLimit = sizeLimit
        self.unreadable = UnreadableDocuments(of: "part of the cube", unreadable, logger: logger)
        database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: CubeTables.register)
    }

    package func close() throws {
        try database.close()
    }

    package func version() async throws -> CubeVersion {
        try await database.read { try CubeQueries.version(in: $0) }
    }

    package func writeHealth() async -> PartHealth { await database.writeHealth() }

    package var storageHealth: PartHealth { database.storageHealth }

    package func repeatedVersion() async throws -> CubeVersion {
        try await versions.value(at: database.revision, version)
    }

    package func snapshot() async throws -> CubeSnapshot {
        try await database.read { [unreadable] in try CubeQueries.snapshot(of: $0, unreadable) }
    }

    package func find(_ command: FindSubject) async throws -> FindSubject.Reply {
        try await database.read { database in
            do {
                return try CubeQueries.subject(of: command.topicKey, in: database)
            } catch let error where error is RowDecodingError || error is DecodingError {
                // The log names it when the whole cube is read.
                throw CommandFailure.noSubject(of: command.topicKey)
            }
        }
    }

    package func nextForeignEdit() async throws -> CubeVersion? {
        if let version = try await noForeignEdit.value(at: database.revision, countForeignEdit) { return version }
        try await Task.sleep(untilNext: Self.pauseBetweenLooks)
        return nil
    }

    /// Asks SQLite whether another process has committed. A change that has not increased the version is counted here.
    private func countForeignEdit() async throws -> CubeVersion? {
        try await database.write { [self] database in
            let dataVersion = try Int64.fetchOne(database, sql: "PRAGMA data_version")
            let version = try CubeQueries.version(in: database)
            let isForeign = known.withLock { known in
                let hasChanged = known.dataVersion != nil && known.dataVersion != dataVersion
                let isCounted = version != known.version
                (known.dataVersion, known.version) = (dataVersion, version)
                if hasChanged { known.isMeasured = false }
                return hasChanged && !isCounted
            }
            guard isForeign else { return nil }
            let counted = try CubeQueries.nextVersion(in: database)
            try PendingAudit.add([CubeRecord.foreignEdit(counted).entry(by: .program)], in: database)
            known.withLock { $0.version = counted }
            return counted
        }
    }

    package func add(_ command: AddChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel> {
        try await edit(by: author) { database, version in
            let channel = Channel(id: ObjectID(), name: command.channel.name, desc: command.channel.desc)
            try ChannelRow(channel, version: version).insert(database)
            return CubeChange(value: channel, growth: try CubeSize.of(channel), records: [.added(CubeObject(channel))])
        }
    }

    package func update(_ command: UpdateChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel> {
        try await edit(by: author) { [unreadable] database, version in
            var row = try CubeQueries.channel(command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            let before = row
            row.name = command.channel.name
            row.desc = command.channel.desc
            row.version = version
            try row.update(database)
            return CubeChange(
                value: row.channel(with: try CubeQueries.areas(of: row.id, in: database, unreadable)),
                growth: try row.size - before.size, records: [.updated(before.object, to: row.object)])
        }
    }

    package func delete(_ command: DeleteChannel, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(by: author) { database, _ in
            let row = try CubeQueries.channel(command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            for area in try AreaRow.filter(Column("channelID") == row.id).fetchAll(database) {
                try area.checkWithSubjects(unchangedSince: command.unchangedSince, in: database)
            }
            let channel = row.channel(with: try CubeQueries.areas(of: row.id, in: database))
            try row.delete(database)
            return CubeChange(value: Done(), growth: try -CubeSize.of(channel), records: CubeRecord.deleted(channel))
        }
    }

    package func add(_ command: AddArea, by author: AuditAuthor) async throws -> CubeEdit<Area> {
        try await edit(by: author) { database, version in
            let channel = try CubeQueries.channel(command.channelID, in: database)
            let area = Area(id: ObjectID(), name: command.area.name, desc: command.area.desc)
            try AreaRow(area, channelID: channel.id, version: version).insert(database)
            return CubeChange(
                value: area, growth: try CubeSize.of(area), records: [.added(CubeObject(area, in: channel.id))])
        }
    }

    package func update(_ command: UpdateArea, by author: AuditAuthor) async throws -> CubeEdit<Area> {
        try await edit(by: author) { [unreadable] database, version in
            var row = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            let before = row
            row.name = command.area.name
            row.desc = command.area.desc
            row.version = version
            try row.update(database)
            return CubeChange(
                value: row.area(with: try CubeQueries.subjects(of: row.id, in: database, unreadable)),
                growth: try row.size - before.size, records: [.updated(before.object, to: row.object)])
        }
    }

    package func delete(_ command: DeleteArea, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(by: author) { database, _ in
            let row = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            try row.checkWithSubjects(unchangedSince: command.unchangedSince, in: database)
            let area = row.area(with: try CubeQueries.subjects(of: row.id, in: database))
            try row.delete(database)
            return CubeChange(
                value: Done(), growth: try -CubeSize.of(area), records: CubeRecord.deleted(area, in: row.channelID))
        }
    }

    package func add(_ command: AddSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject> {
        try await edit(by: author) { database, version in
            let area = try CubeQueries.area(command.areaID, of: command.channelID, in: database)
            let topicKey = TopicKey(channel: area.channelID, area: area.id, subject: ObjectID())
            let subject = Subject(
                id: topicKey.subject, name: command.subject.name, desc: command.subject.desc, topicKey: topicKey,
                opt: command.subject.opt)
            try SubjectRow(subject, version: version).insert(database)
            return CubeChange(value: subject, growth: try CubeSize.of(subject), records: [.added(CubeObject(subject))])
        }
    }

    package func update(_ command: UpdateSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject> {
        try await edit(by: author) { database, version in
            var row = try CubeQueries.subject(command.subjectID, of: command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            let before = row
            row.name = command.subject.name
            row.desc = command.subject.desc
            row.level = command.subject.opt.level
            row.distribution = command.subject.opt.distribution
            row.version = version
            try row.update(database)
            return CubeChange(
                value: row.subject, growth: try row.size - before.size, records: [.updated(before.object, to: row.object)])
        }
    }

    package func delete(_ command: DeleteSubject, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(by: author) { database, _ in
            let row = try CubeQueries.subject(command.subjectID, of: command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            try row.delete(database)
            return CubeChange(value: Done(), growth: try -row.size, records: [.deleted(row.object)])
        }
    }

    package func restore(_ snapshot: CubeSnapshot) async throws {
        try await database.write { [unreadable] database in
            let stored = try CubeQueries.snapshot(of: database, unreadable)
            guard stored != snapshot else { return }
            guard stored == .initial else {
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
            try database.execute(sql: "UPDATE cube SET version = ?, size = NULL", arguments: [snapshot.version])
        }
    }

    /// Performs one change. It is committed together with its version, the cube's new size and the entries for the audit log.
    func edit<Value: Codable & Hashable & Sendable>(
        by author: AuditAuthor, _ change: @escaping @Sendable (Database, CubeVersion) throws -> CubeChange<Value>
    ) async throws -> CubeEdit<Value> {
        try await database.write { [self] database in
            let version = try CubeQueries.nextVersion(in: database)
            let size = try size(in: database)
            let change = try Self.readable { try change(database, version) }
            try sizeLimit.check(size: size, growth: change.growth)
            // The rest of the disk is reserved for accepted messages.
            if change.growth > 0 { try self.database.checkRoom() }
            try database.execute(sql: "UPDATE cube SET size = ?", arguments: [size + change.growth])
            try PendingAudit.add(change.records.map { $0.entry(by: author) }, in: database)
            known.withLock { known in
                known.isMeasured = true
                known.version = version
            }
            return CubeEdit(version: version, value: change.value)
        }
    }

    /// Refuses a change of an unreadable object, or of an object that contains one.
    private static func readable<Value>(_ change: () throws -> Value) throws -> Value {
        do {
            return try change()
        } catch let error where error is RowDecodingError || error is DecodingError {
            throw CommandFailure.unreadable("something in it", UnreadableRow(error).description, field: "channelID")
        }
    }

    /// The size of the cube before a change.
    private func size(in database: Database) throws -> Int64 {
        if known.withLock(\.isMeasured), let size = try CubeQueries.storedSize(in: database) { return size }
        return try CubeQueries.size(in: database, unreadable)
    }
}

extension CubeRow {
    /// Refuses an edit of a row that was changed since the editor read it.
    func check(unchangedSince known: CubeVersion?) throws {
        guard let known, version > known else { return }
        throw CommandFailure.changed(Self.databaseTableName, id, in: version, after: known)
    }
}

extension AreaRow {
    /// Refuses to delete an object that was changed, at any depth, since the editor read it.
    fileprivate func checkWithSubjects(unchangedSince known: CubeVersion?, in database: Database) throws {
        try check(unchangedSince: known)
        guard known != nil else { return }
        for subject in try SubjectRow.filter(Column("areaID") == id).fetchAll(database) {
            try subject.check(unchangedSince: known)
        }
    }
}
