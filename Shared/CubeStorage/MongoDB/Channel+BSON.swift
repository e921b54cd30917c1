import MongoDatabase
import Schemas

extension Channel {
    /// The channel as a new document. All objects in it get the same version.
    func document(version: CubeVersion, position: Int64) -> BSONDocument {
        [
            "_id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "areas": .array(areas.map { .document($0.document(version: version)) }), "version": version.bson,
            "position": .int64(position),
        ]
    }
}

extension Area {
    func document(version: CubeVersion) -> BSONDocument {
        [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "subjects": .array(subjects.map { .document($0.document(version: version)) }), "version": version.bson,
        ]
    }
}

extension Subject {
    func document(version: CubeVersion) -> BSONDocument {
        let document: BSONDocument = [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "topic_key": topicKey.bson, "opt": ["level": opt.level.bson, "distribution": opt.distribution.bson],
            "tags": tags.bson,
            "version": version.bson,
        ]
        return approval.map { document.with("approval", .bool($0)) } ?? document
    }
}

extension SubscriptionLevel: BSONConvertible {}

extension CubeVersion: BSONConvertible {}

extension NamedDraft {
    /// The fields that an update sets.
    ///
    /// - Parameter path: The path of the object in its document: empty, or ending with a dot.
    func changes(version: CubeVersion, in path: String = "") -> BSONDocument {
        BSONDocument([
            (path + "name", .string(name)), (path + "desc", .string(desc)), (path + "version", version.bson),
        ])
    }
}

extension SubjectDraft {
    /// Sets single fields, because `opt` may contain fields of other programs.
    func changes(version: CubeVersion, in path: String) -> BSONDocument {
        BSONDocument([
            (path + "name", .string(name)), (path + "desc", .string(desc)), (path + "opt.level", opt.level.bson),
            (path + "opt.distribution", opt.distribution.bson), (path + "version", version.bson),
        ])
    }
}
