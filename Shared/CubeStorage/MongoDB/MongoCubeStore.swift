package import Logging
package import MongoDatabase
package import Schemas
package import UnreadableDocuments

/// The cube in MongoDB, one document for each channel. It needs a replica set: a change and its version are stored
/// in one transaction.
package struct MongoCubeStore: CubeStore {
    let database: MongoDatabase
    private let sizeLimit: CubeSizeLimit
    private let unreadable: UnreadableDocuments
    private let foreignEdits: MongoForeignEdits

    /// Connects. While the database is unreachable or has no transactions, every method throws, and the log says so.
    ///
    /// - Parameter unreadable: How a snapshot treats documents that are no channels, and unreadable parts of channels.
    package init(
        url: MongoURL, sizeLimit: CubeSizeLimit, unreadable: UnreadableDocument = .skipped, logger: Logger
    ) async {
        self.sizeLimit = sizeLimit
        self.unreadable = UnreadableDocuments(of: "channel", unreadable, logger: logger)
        database = await MongoDatabase.open(
            url, application: "msi-cube", logger: logger, prepare: CubeCollections.prepare)
        foreignEdits = MongoForeignEdits(database: database, unreadable: self.unreadable, logger: logger)
    }

    package func close() async {
        await database.close()
    }

    package func writeHealth() async -> PartHealth { await database.writeHealth() }

    package func version() async throws -> CubeVersion {
        try await MongoError.asFailure {
            try await database.run { try $0.cubeVersion() }
        }
    }

    package func repeatedVersion() async throws -> CubeVersion { try await version() }

    package func snapshot() async throws -> CubeSnapshot {
        try await MongoError.asFailure {
            try await database.snapshot { [unreadable] in try $0.cubeSnapshot(unreadable) }
        }
    }

    package func nextForeignEdit() async throws -> CubeVersion? {
        try await MongoError.asFailure { try await foreignEdits.next() }
    }

    package func find(_ command: FindSubject) async throws -> FindSubject.Reply {
        try await MongoError.asFailure {
            try await database.run { try $0.subject(of: command.topicKey) }
        }
    }

    package func add(_ command: AddChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel> {
        let channel = Channel(id: ObjectID(), name: command.channel.name, desc: command.channel.desc)
        return try await edit(channel.id, by: author) { connection, _, version in
            try connection.insert(channel.document(version: version, position: version.rawValue))
            return CubeChange(value: channel, growth: try CubeSize.of(channel), records: [.added(CubeObject(channel))])
        }
    }

    package func update(_ command: UpdateChannel, by author: AuditAuthor) async throws -> CubeEdit<Channel> {
        try await edit(command.channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            try document.check(.channel, command.channelID, unchangedSince: command.unchangedSince)
            try connection.change(
                ["_id": .objectID(command.channelID)],
                ["$set": .document(command.channel.changes(version: version))])
            var channel = document.channel
            (channel.name, channel.desc) = (command.channel.name, command.channel.desc)
            return CubeChange(
                value: channel, growth: try CubeSize.of(channel.withoutAreas) - CubeSize.of(document.channel.withoutAreas),
                records: [.updated(CubeObject(document.channel), to: CubeObject(channel))])
        }
    }

    package func delete(_ command: DeleteChannel, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(command.channelID, by: author) { connection, stored, _ in
            let document = try stored.document()
            try document.checkWithAreas(unchangedSince: command.unchangedSince)
            _ = try connection.delete(["_id": .objectID(command.channelID)], from: CubeCollections.channels)
            return CubeChange(
                value: Done(), growth: try -CubeSize.of(document.channel), records: CubeRecord.deleted(document.channel))
        }
    }

    package func add(_ command: AddArea, by author: AuditAuthor) async throws -> CubeEdit<Area> {
        let area = Area(id: ObjectID(), name: command.area.name, desc: command.area.desc)
        return try await edit(command.channelID, by: author) { connection, stored, version in
            _ = try stored.document()
            try connection.change(
                ["_id": .objectID(command.channelID)],
                ["$push": ["areas": .document(area.document(version: version))]])
            return CubeChange(
                value: area, growth: try CubeSize.of(area), records: [.added(CubeObject(area, in: command.channelID))])
        }
    }

    package func update(_ command: UpdateArea, by author: AuditAuthor) async throws -> CubeEdit<Area> {
        try await edit(command.channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            let former = try document.area(command.areaID)
            try document.check(.area, command.areaID, unchangedSince: command.unchangedSince)
            try connection.change(
                ["_id": .objectID(command.channelID), "areas.id": .objectID(command.areaID)],
                ["$set": .document(command.area.changes(version: version, in: "areas.$."))])
            var area = former
            (area.name, area.desc) = (command.area.name, command.area.desc)
            return CubeChange(
                value: area, growth: try CubeSize.of(area.withoutSubjects) - CubeSize.of(former.withoutSubjects),
                records: [
                    .updated(CubeObject(former, in: command.channelID), to: CubeObject(area, in: command.channelID))
                ])
        }
    }

    package func delete(_ command: DeleteArea, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(command.channelID, by: author) { connection, stored, _ in
            let document = try stored.document()
            let area = try document.area(command.areaID)
            try document.checkWithSubjects(of: area, unchangedSince: command.unchangedSince)
            try connection.change(
                ["_id": .objectID(command.channelID)], ["$pull": ["areas": ["id": .objectID(command.areaID)]]])
            return CubeChange(
                value: Done(), growth: try -CubeSize.of(area), records: CubeRecord.deleted(area, in: command.channelID))
        }
    }

    package func add(_ command: AddSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject> {
        let topicKey = TopicKey(channel: command.channelID, area: command.areaID, subject: ObjectID())
        let draft = command.subject
        let subject = Subject(id: topicKey.subject, name: draft.name, desc: draft.desc, topicKey: topicKey, opt: draft.opt)
        return try await edit(command.channelID, by: author) { connection, stored, version in
            _ = try stored.document().area(command.areaID)
            try connection.change(
                ["_id": .objectID(command.channelID), "areas.id": .objectID(command.areaID)],
                ["$push": ["areas.$.subjects": .document(subject.document(version: version))]])
            return CubeChange(value: subject, growth: try CubeSize.of(subject), records: [.added(CubeObject(subject))])
        }
    }

    package func update(_ command: UpdateSubject, by author: AuditAuthor) async throws -> CubeEdit<Subject> {
        try await edit(command.channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            let former = try document.subject(command.subjectID, in: command.areaID)
            try document.check(.subject, command.subjectID, unchangedSince: command.unchangedSince)
            try connection.change(
                ["_id": .objectID(command.channelID)],
                ["$set": .document(command.subject.changes(version: version, in: "areas.$[area].subjects.$[subject]."))],
                arrayFilters: [
                    ["area.id": .objectID(command.areaID)], ["subject.id": .objectID(command.subjectID)],
                ])
            var subject = former
            (subject.name, subject.desc, subject.opt) = (command.subject.name, command.subject.desc, command.subject.opt)
            return CubeChange(
                value: subject, growth: try CubeSize.of(subject) - CubeSize.of(former),
                records: [.updated(CubeObject(former), to: CubeObject(subject))])
        }
    }

    package func delete(_ command: DeleteSubject, by author: AuditAuthor) async throws -> CubeEdit<Done> {
        try await edit(command.channelID, by: author) { connection, stored, _ in
            let document = try stored.document()
            let subject = try document.subject(command.subjectID, in: command.areaID)
            try document.check(.subject, command.subjectID, unchangedSince: command.unchangedSince)
            try connection.change(
                ["_id": .objectID(command.channelID), "areas.id": .objectID(command.areaID)],
                ["$pull": ["areas.$.subjects": ["id": .objectID(command.subjectID)]]])
            return CubeChange(
                value: Done(), growth: try -CubeSize.of(subject), records: [.deleted(CubeObject(subject))])
        }
    }

    package func restore(_ snapshot: CubeSnapshot) async throws {
        try await MongoError.asFailure {
            try await database.transaction { [unreadable] connection in
                let stored = try connection.cubeSnapshot(unreadable)
                guard stored != snapshot else { return }
                guard stored == .initial else {
                    throw CommandFailure.anotherCube(at: stored.version)
                }
                for (index, channel) in snapshot.channels.enumerated() {
                    try connection.insert(channel.document(version: snapshot.version, position: Int64(index)))
                }
                _ = try connection.update(
                    CubeCollections.counter, ["$set": ["version": snapshot.version.bson]], in: CubeCollections.cube)
                try connection.setCubeMeasure(connection.measureCube(unreadable))
            }
        }
    }

    /// Changes one channel.
    func edit<Value: Codable & Hashable & Sendable>(
        _ channelID: ObjectID, by author: AuditAuthor,
        _ change: @escaping @Sendable (MongoConnection, StoredChannel, CubeVersion) throws -> CubeChange<Value>
    ) async throws -> CubeEdit<Value> {
        try await edit(by: author) { connection, version in
            let before = StoredChannel(id: channelID, stored: try connection.channelDocument(channelID))
            let change = try change(connection, before, version)
            let after = try connection.channelDocument(channelID)
            return (change, CubeMeasure.digest(of: after) &- CubeMeasure.digest(of: before.stored))
        }
    }

    /// Performs one change. It is committed together with its version, the new measure of the cube and the entries for the audit
    /// log.
    ///
    /// - Parameter change: Returns also what the change adds to the digest of the documents.
    func edit<Value: Codable & Hashable & Sendable>(
        by author: AuditAuthor,
        _ change: @escaping @Sendable (MongoConnection, CubeVersion) throws -> (CubeChange<Value>, digest: Int64)
    ) async throws -> CubeEdit<Value> {
        try await MongoError.asFailure {
            try await database.transaction { [sizeLimit, unreadable] connection in
                // Count first, so that a concurrent change conflicts before it has done any work.
                let count = try connection.nextCubeCount()
                var measure = try count.measure ?? connection.measureCube(unreadable)
                let (change, digest) = try change(connection, count.version)
                try sizeLimit.check(size: measure.size, growth: change.growth)
                measure.size += change.growth
                measure.digest &+= digest
                try connection.setCubeMeasure(measure)
                try connection.addCubeAudit(change.records.map { $0.entry(by: author) })
                return CubeEdit(version: count.version, value: change.value)
            }
        }
    }
}

/// The stored channel at the begin of a change.
struct StoredChannel {
    let id: ObjectID
    /// `nil` if it does not exist.
    let stored: BSONDocument?

    func document() throws(CommandFailure) -> ChannelDocument {
        guard let stored else { throw .noChannel(id) }
        do {
            return try ChannelDocument(stored)
        } catch {
            throw .unreadable("channel \(id)", error.description, field: "channelID")
        }
    }
}
