import JSON
import Schemas

/// The records of the edits of lists.
extension CubeRecord {
    static func access(_ former: [String], to command: SetAccess) -> CubeRecord {
        CubeRecord(
            action: SetAccess.name, object: command.object, before: ["access": .array(former.map { .string($0) })],
            after: ["access": .array(command.access.map { .string($0.description) })])
    }

    static func order(_ former: [ObjectID], to command: SetOrder) -> CubeRecord {
        CubeRecord(
            action: SetOrder.name, object: command.object, before: ["ids": .array(former.map { .string($0.description) })],
            after: ["ids": .array(command.ids.map { .string($0.description) })])
    }

    static func approval(_ former: Bool?, to command: SetApproval) -> CubeRecord {
        CubeRecord(
            action: SetApproval.name, object: .subject(command.topicKey), before: ["approval": .boolean(former ?? false)],
            after: ["approval": .boolean(command.approval)])
    }
}

extension SetApproval {
    fileprivate var topicKey: TopicKey { TopicKey(channel: channelID, area: areaID, subject: subjectID) }
}

extension SetAccess {
    fileprivate var object: AuditObject {
        guard let areaID else { return .channel(channelID) }
        guard let subjectID else { return .area(areaID, in: channelID) }
        return .subject(TopicKey(channel: channelID, area: areaID, subject: subjectID))
    }
}

extension SetOrder {
    /// The object whose children are sorted.
    fileprivate var object: AuditObject {
        guard let channelID else { return .cube }
        guard let areaID else { return .channel(channelID) }
        return .area(areaID, in: channelID)
    }

    /// Checks that the command names exactly the present objects.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict`.
    func check(present: [ObjectID]) throws(CommandFailure) {
        let (named, stored) = (Set(ids), Set(present))
        if let id = present.first(where: { !named.contains($0) }) {
            throw CommandFailure(
                .conflict, "ids: expected all \(present.count) ids that are there; \(id) is missing", field: "ids")
        }
        if let id = ids.first(where: { !stored.contains($0) }) {
            throw CommandFailure(.conflict, "ids: expected only ids that are there; \(id) is not", field: "ids")
        }
    }
}
