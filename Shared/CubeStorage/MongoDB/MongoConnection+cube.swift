import MongoDatabase
import Schemas

/// The cube's questions and changes, as steps of a transaction.
extension MongoConnection {
    func cubeVersion() throws -> CubeVersion {
        guard let counter = try find(CubeCollections.counter, in: CubeCollections.cube).first else { return 0 }
        return try BSONFields(counter).value("version")
    }

    /// Counts one change more.
    func nextCubeCount() throws -> CubeCount {
        let reply = try write([
            "findAndModify": .string(CubeCollections.cube), "query": .document(CubeCollections.counter),
            "update": ["$inc": ["version": .int64(1)]], "new": true, "upsert": true,
        ])
        let count = try BSONFields(reply).fields("value")
        return CubeCount(version: try count.value("version"), size: try count.optional("size") ?? cubeSize())
    }

    func setCubeSize(_ size: Int64) throws {
        _ = try update(CubeCollections.counter, ["$set": ["size": .int64(size)]], in: CubeCollections.cube)
    }

    /// Reads the whole cube: what the count lacks after another program, or an older version, has made it.
    private func cubeSize() throws -> Int64 {
        try CubeSize.of(cubeSnapshot().channels)
    }

    func subject(of topicKey: TopicKey) throws -> FindSubject.Reply {
        // The version first: what is read after it is at least as new.
        let version = try cubeVersion()
        let found = try aggregate(SubjectLookup.stages(of: topicKey), in: CubeCollections.channels)
        guard let channel = try found.first.map(ChannelDocument.init)?.channel, let area = channel.areas.first,
            let subject = area.subjects.first
        else {
            throw CommandFailure.noSubject(of: topicKey)
        }
        let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
        return FindSubject.Reply(version: version, subject: subject, names: names)
    }

    func cubeSnapshot() throws -> CubeSnapshot {
        let version = try cubeVersion()
        let channels = try find([:], in: CubeCollections.channels, options: ["sort": ["position": 1, "_id": 1]])
        return CubeSnapshot(version: version, channels: try channels.map { try ChannelDocument($0).channel })
    }

    func channel(_ id: ObjectID) throws -> ChannelDocument {
        guard let document = try find(["_id": .objectID(id)], in: CubeCollections.channels).first else {
            throw CommandFailure.noChannel(id)
        }
        return try ChannelDocument(document)
    }

    func insert(_ channel: BSONDocument) throws {
        if let error = try insert([channel], into: CubeCollections.channels)[0] { throw error }
    }

    /// Changes a part of one channel, which has been found in the same transaction.
    func change(_ filter: BSONDocument, _ update: BSONDocument, arrayFilters: [BSONValue] = []) throws {
        let options: BSONDocument = arrayFilters.isEmpty ? [:] : ["arrayFilters": .array(arrayFilters)]
        _ = try self.update(filter, update, in: CubeCollections.channels, options: options)
    }
}

/// The document that counts the cube's changes.
struct CubeCount {
    let version: CubeVersion
    /// The size of the whole cube (``CubeSize``).
    let size: Int64
}

extension NamedDraft {
    /// What an update sets.
    ///
    /// - Parameter path: Where the object is in its document: empty, or with a dot at its end.
    func changes(version: CubeVersion, in path: String = "") -> BSONDocument {
        BSONDocument([
            (path + "name", .string(name)), (path + "desc", .string(desc)), (path + "version", .int64(version)),
        ])
    }
}

extension SubjectDraft {
    func changes(version: CubeVersion, in path: String) -> BSONDocument {
        BSONDocument([
            (path + "name", .string(name)), (path + "desc", .string(desc)), (path + "opt", .document(opt.document)),
            (path + "version", .int64(version)),
        ])
    }
}
