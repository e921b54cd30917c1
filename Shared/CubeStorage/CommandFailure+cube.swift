import Schemas

/// The failures that every store of the cube throws.
extension CommandFailure {
    static func noChannel(_ id: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no channel \(id)")
    }

    static func noArea(_ id: ObjectID, in channelID: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no area \(id) in channel \(channelID)")
    }

    static func noSubject(_ id: ObjectID, in areaID: ObjectID, of channelID: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no subject \(id) in area \(areaID) of channel \(channelID)")
    }

    static func noSubject(of topicKey: TopicKey) -> CommandFailure {
        CommandFailure(.notFound, "no subject has the topic key \(topicKey)")
    }

    static func changed(_ kind: String, _ id: ObjectID, in version: CubeVersion, after known: CubeVersion) -> CommandFailure {
        CommandFailure(.conflict, "\(kind) \(id) was changed in version \(version), after version \(known)")
    }

    static func cubeChanged(in version: CubeVersion, after known: CubeVersion) -> CommandFailure {
        CommandFailure(.conflict, "the cube was changed in version \(version), after version \(known)")
    }

    /// - Parameters:
    ///   - object: An unreadable object that another program has stored.
    ///   - field: The command's field that names it.
    static func unreadable(_ object: String, _ reason: String, field: String) -> CommandFailure {
        CommandFailure(
            .conflict, "\(object) cannot be read (\(reason)), and is left as it is; put it right in the database", field: field)
    }

    static func anotherCube(at version: CubeVersion) -> CommandFailure {
        CommandFailure(.conflict, "the store contains another cube already, at version \(version)")
    }
}
