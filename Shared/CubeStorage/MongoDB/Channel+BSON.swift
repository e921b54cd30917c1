import MongoDatabase
import Schemas

extension Channel {
    /// The channel as a new document, everything in it changed in one version.
    func document(version: CubeVersion, position: Int64) -> BSONDocument {
        [
            "_id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "areas": .array(areas.map { .document($0.document(version: version)) }), "version": .int64(version),
            "position": .int64(position),
        ]
    }
}

extension Area {
    func document(version: CubeVersion) -> BSONDocument {
        [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "subjects": .array(subjects.map { .document($0.document(version: version)) }), "version": .int64(version),
        ]
    }
}

extension Subject {
    func document(version: CubeVersion) -> BSONDocument {
        [
            "id": .objectID(id), "name": .string(name), "desc": .string(desc), "access": access.bson,
            "topic_key": topicKey.bson, "opt": ["level": opt.level.bson, "distribution": opt.distribution.bson],
            "tags": tags.bson,
            "version": .int64(version),
        ]
    }
}

extension SubscriptionLevel: BSONConvertible {}

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
    /// Field by field: `opt` may have others of another program's.
    func changes(version: CubeVersion, in path: String) -> BSONDocument {
        BSONDocument([
            (path + "name", .string(name)), (path + "desc", .string(desc)), (path + "opt.level", opt.level.bson),
            (path + "opt.distribution", opt.distribution.bson), (path + "version", .int64(version)),
        ])
    }
}
