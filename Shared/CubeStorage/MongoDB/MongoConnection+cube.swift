import MongoDatabase
import Schemas
import UnreadableDocuments

/// The cube's queries and changes, as steps of a transaction.
extension MongoConnection {
    func cubeVersion() throws -> CubeVersion {
        try storedCubeCount()?.version ?? .initial
    }

    func cubeSnapshot(_ unreadable: UnreadableDocuments) throws -> CubeSnapshot {
        let version = try cubeVersion()
        return CubeSnapshot(version: version, channels: try channels(in: try channelDocuments(), unreadable))
    }

    /// All documents of `icube`, in the order of the channels.
    func channelDocuments() throws -> [BSONDocument] {
        try find([:], in: CubeCollections.channels, options: ["sort": ["position": 1, "_id": 1]])
    }

    /// The document of one channel; `nil` if it does not exist.
    func channelDocument(_ id: ObjectID) throws -> BSONDocument? {
        try find(["_id": .objectID(id)], in: CubeCollections.channels).first
    }

    /// The readable parts of the documents. The log names the rest.
    func channels(in documents: [BSONDocument], _ unreadable: UnreadableDocuments) throws -> [Channel] {
        try unreadable.readable(of: documents, as: ChannelDocument.init).map { document in
            if let part = document.unreadable.first {
                let others = document.unreadable.count - 1
                let reason = others == 0 ? part.reason : "\(part.reason); and \(others) more of its parts"
                try unreadable.leaveOut("\(document.channel.id)", because: reason)
            }
            return document.channel
        }
    }

    func subject(of topicKey: TopicKey) throws -> FindSubject.Reply {
        // Read the version first: the subject is then at least as new.
        let version = try cubeVersion()
        let found = try aggregate(SubjectLookup.stages(of: topicKey), in: CubeCollections.channels).first
        // An unreadable object is not found. The log names it when the whole cube is read.
        guard let channel = found.flatMap({ try? ChannelDocument($0) })?.channel, let area = channel.areas.first,
            let subject = area.subjects.first
        else {
            throw CommandFailure.noSubject(of: topicKey)
        }
        let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
        return FindSubject.Reply(version: version, subject: subject, names: names)
    }

    func insert(_ channel: BSONDocument) throws {
        if let error = try insert([channel], into: CubeCollections.channels)[0] { throw error }
    }

    /// Changes a part of one channel, which was found in the same transaction.
    func change(_ filter: BSONDocument, _ update: BSONDocument, arrayFilters: [BSONValue] = []) throws {
        let options: BSONDocument = arrayFilters.isEmpty ? [:] : ["arrayFilters": .array(arrayFilters)]
        _ = try self.update(filter, update, in: CubeCollections.channels, options: options)
    }
}
