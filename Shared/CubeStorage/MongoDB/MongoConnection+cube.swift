import MongoDatabase
import Schemas

/// The cube's questions and changes, as steps of a transaction.
extension MongoConnection {
    func cubeVersion() throws -> CubeVersion {
        guard let counter = try find(CubeCollections.counter, in: CubeCollections.cube).first else { return 0 }
        return try BSONFields(counter).value("version")
    }

    /// Counts one change more.
    func nextCubeVersion() throws -> CubeVersion {
        let reply = try write([
            "findAndModify": .string(CubeCollections.cube), "query": .document(CubeCollections.counter),
            "update": ["$inc": ["version": .int64(1)]], "new": true, "upsert": true,
        ])
        return try BSONFields(reply).fields("value").value("version")
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
