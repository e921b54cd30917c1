import MongoDatabase
package import Schemas

extension MongoCubeStore {
    package func set(_ command: SetAccess, by author: AuditAuthor) async throws -> CubeEdit<AccessList> {
        try await edit(command.channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            let names = command.access.map(\.description)
            let (former, growth) = try Self.access(command, names, in: document)
            let place = ArrayPlace(area: command.areaID, subject: command.subjectID)
            try connection.change(
                ["_id": .objectID(command.channelID)],
                [
                    "$set": .document(
                        BSONDocument([(place.path + "access", names.bson), (place.path + "version", version.bson)]))
                ],
                arrayFilters: place.filters)
            return CubeChange(
                value: AccessList(access: command.access), growth: growth, records: [.access(former, to: command)])
        }
    }

    /// The former list, and the growth of the cube.
    private static func access(
        _ command: SetAccess, _ names: [String], in document: ChannelDocument
    ) throws -> (former: [String], growth: Int64) {
        guard let areaID = command.areaID else {
            try document.check(.channel, command.channelID, unchangedSince: command.unchangedSince)
            let former = document.channel.withoutAreas
            var new = former
            new.access = names
            return (former.access, try CubeSize.of(new) - CubeSize.of(former))
        }
        guard let subjectID = command.subjectID else {
            let former = try document.area(areaID).withoutSubjects
            try document.check(.area, areaID, unchangedSince: command.unchangedSince)
            var new = former
            new.access = names
            return (former.access, try CubeSize.of(new) - CubeSize.of(former))
        }
        let former = try document.subject(subjectID, in: areaID)
        try document.check(.subject, subjectID, unchangedSince: command.unchangedSince)
        var new = former
        new.access = names
        return (former.access, try CubeSize.of(new) - CubeSize.of(former))
    }

    package func set(_ command: SetApproval, by author: AuditAuthor) async throws -> CubeEdit<Approval> {
        try await edit(command.channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            let former = try document.subject(command.subjectID, in: command.areaID)
            try document.check(.subject, command.subjectID, unchangedSince: command.unchangedSince)
            var new = former
            new.approval = command.approval ? true : nil
            let place = ArrayPlace(area: command.areaID, subject: command.subjectID)
            let changed = (place.path + "version", version.bson)
            try connection.change(
                ["_id": .objectID(command.channelID)],
                command.approval
                    ? ["$set": .document(BSONDocument([changed, (place.path + "approval", true)]))]
                    : [
                        "$set": .document(BSONDocument([changed])),
                        "$unset": .document(BSONDocument([(place.path + "approval", "")])),
                    ],
                arrayFilters: place.filters)
            return CubeChange(
                value: Approval(approval: command.approval), growth: try CubeSize.of(new) - CubeSize.of(former),
                records: [.approval(former.approval, to: command)])
        }
    }

    package func set(_ command: SetOrder, by author: AuditAuthor) async throws -> CubeEdit<CubeOrder> {
        guard let channelID = command.channelID else { return try await sortChannels(command, by: author) }
        return try await edit(channelID, by: author) { connection, stored, version in
            let document = try stored.document()
            let former: [ObjectID]
            let list: String
            if let areaID = command.areaID {
                former = try document.subjectsToSort(in: areaID, unchangedSince: command.unchangedSince)
                list = "subjects"
            } else {
                former = try document.areasToSort(unchangedSince: command.unchangedSince)
                list = "areas"
            }
            try command.check(present: former)
            let place = ArrayPlace(area: command.areaID)
            let sorted = try stored.elements(of: list, in: command.areaID, inOrder: command.ids)
            try connection.change(
                ["_id": .objectID(channelID)],
                [
                    "$set": .document(
                        BSONDocument([(place.path + list, .array(sorted)), (place.path + "version", version.bson)]))
                ],
                arrayFilters: place.filters)
            return CubeChange(value: CubeOrder(ids: command.ids), growth: 0, records: [.order(former, to: command)])
        }
    }

    private func sortChannels(_ command: SetOrder, by author: AuditAuthor) async throws -> CubeEdit<CubeOrder> {
        try await edit(by: author) { connection, version in
            let last = CubeVersion(rawValue: version.rawValue - 1)
            if let known = command.unchangedSince, last > known { throw CommandFailure.cubeChanged(in: last, after: known) }
            let documents = try connection.channelDocuments()
            // Unreadable documents are not channels, and keep their positions.
            let former = documents.compactMap { try? ChannelDocument($0).channel.id }
            try command.check(present: former)
            for (index, id) in command.ids.enumerated() {
                // Before every channel that is added later: its position is its version.
                let position = version.rawValue - Int64(command.ids.count - 1 - index)
                try connection.change(["_id": .objectID(id)], ["$set": ["position": .int64(position)]])
            }
            let digest = CubeMeasure.digest(of: try connection.channelDocuments()) &- CubeMeasure.digest(of: documents)
            return (
                CubeChange(value: CubeOrder(ids: command.ids), growth: 0, records: [.order(former, to: command)]), digest
            )
        }
    }
}

/// The place of an area or a subject in a channel's document, for an update.
private struct ArrayPlace {
    /// Empty for the channel; otherwise it ends with a dot.
    let path: String
    let filters: [BSONValue]

    init(area: ObjectID? = nil, subject: ObjectID? = nil) {
        path = (area == nil ? "" : "areas.$[area].") + (subject == nil ? "" : "subjects.$[subject].")
        filters = [("area.id", area), ("subject.id", subject)].compactMap { key, id in
            id.map { .document(BSONDocument([(key, .objectID($0))])) }
        }
    }
}

extension ChannelDocument {
    /// The areas, unless one of them cannot be read.
    fileprivate func areasToSort(unchangedSince known: CubeVersion?) throws(CommandFailure) -> [ObjectID] {
        if let part = unreadable.first(where: { $0.id == $0.area }) {
            throw .unreadable("an area of channel \(channel.id)", part.reason, field: "channelID")
        }
        try check(.channel, channel.id, unchangedSince: known)
        return channel.areas.map(\.id)
    }

    /// The subjects of an area, unless one of them cannot be read.
    fileprivate func subjectsToSort(in areaID: ObjectID, unchangedSince known: CubeVersion?) throws(CommandFailure) -> [ObjectID]
    {
        let area = try area(areaID)
        if let part = unreadable.first(where: { $0.area == areaID }) {
            throw .unreadable("a subject in area \(areaID) of channel \(channel.id)", part.reason, field: "areaID")
        }
        try check(.area, areaID, unchangedSince: known)
        return area.subjects.map(\.id)
    }
}

extension StoredChannel {
    /// The stored elements of `areas`, or of the `subjects` of an area, in a new order. Their other fields stay as they are.
    ///
    /// - Parameter ids: The identifiers of all elements.
    fileprivate func elements(of list: String, in areaID: ObjectID?, inOrder ids: [ObjectID]) throws -> [BSONValue] {
        var fields = try BSONFields(stored ?? [:])
        if let areaID {
            let areas = try fields.parts("areas").compactMap { try? $0.get() }
            if let area = areas.first(where: { (try? $0.value("id")) == areaID }) { fields = area }
        }
        guard case .array(let elements)? = try fields[list] else { return [] }
        let byID = try Dictionary(
            elements.map { element in
                guard case .document(let document) = element else { return (ObjectID?.none, element) }
                return (try BSONFields(document).optional("id"), element)
            }
        ) { first, _ in first }
        return ids.compactMap { byID[$0] }
    }
}
