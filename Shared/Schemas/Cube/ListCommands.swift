package import Base

/// `access.set`: replaces the list of a subject, or without `subjectID` that of an area, or without both that of a channel.
/// `unchangedSince` as for ``UpdateChannel``.
package struct SetAccess: ChannelEditing, Checked {
    package static let name = "access.set"
    package typealias Value = AccessList

    package let channelID: ObjectID
    package let areaID: ObjectID?
    package let subjectID: ObjectID?
    package let access: [AccountName]
    package let unchangedSince: CubeVersion?

    package init(
        channelID: ObjectID, areaID: ObjectID? = nil, subjectID: ObjectID? = nil, access: [AccountName],
        unchangedSince: CubeVersion? = nil
    ) {
        self.channelID = channelID
        self.areaID = areaID
        self.subjectID = subjectID
        self.access = access
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subjectID, access
        case unchangedSince = "unchanged_since"
    }

    package func check() throws(SchemaViolation) {
        if subjectID != nil, areaID == nil { throw SchemaViolation(CodingKeys.areaID, "missing: a subject is in an area") }
        try AccessList.check(access, CodingKeys.access)
    }

    package var places: [CubePlace] { [CubePlace(channelID, areaID, subjectID)] }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> AccessList {
        let names = access.map(\.description)
        if let areaID, let subjectID {
            try channel.change(areaID, subjectID) { $0.access = names }
        } else if let areaID {
            try channel.change(areaID) { $0.access = names }
        } else {
            channel.access = names
        }
        return AccessList(access: access)
    }
}

/// `order.set`: sorts the subjects of an area, or without `areaID` the areas of a channel, or without both the channels.
///
/// `unchangedSince` as for ``UpdateChannel``: the sorted list counts as a part of the area or the channel that it is in. The order of
/// the channels is a part of the cube, which every edit changes.
package struct SetOrder: CubeEditing, Checked {
    package static let name = "order.set"
    package typealias Value = CubeOrder

    package let channelID: ObjectID?
    package let areaID: ObjectID?
    /// Exactly the present ids, in the new order.
    package let ids: [ObjectID]
    package let unchangedSince: CubeVersion?

    package init(
        channelID: ObjectID? = nil, areaID: ObjectID? = nil, ids: [ObjectID], unchangedSince: CubeVersion? = nil
    ) {
        self.channelID = channelID
        self.areaID = areaID
        self.ids = ids
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, ids
        case unchangedSince = "unchanged_since"
    }

    package func check() throws(SchemaViolation) {
        if areaID != nil, channelID == nil { throw SchemaViolation(CodingKeys.channelID, "missing: an area is in a channel") }
        try CubeOrder.check(ids, CodingKeys.ids)
    }

    package var places: [CubePlace] { channelID.map { [CubePlace($0, areaID)] } ?? [] }
    package var scope: CubeScope { .order }

    package func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> CubeOrder {
        guard let channelID else {
            try check(present: cube.channelIDs)
            try cube.sort(ids)
            return CubeOrder(ids: ids)
        }
        return try cube.change(channelID) { channel throws(CommandFailure) in
            if let areaID {
                try channel.change(areaID) { area throws(CommandFailure) in
                    try check(present: area.subjects.map(\.id))
                    area.subjects.sort(in: ids)
                }
            } else {
                try check(present: channel.areas.map(\.id))
                channel.areas.sort(in: ids)
            }
            return CubeOrder(ids: ids)
        }
    }

    /// Checks that the command names exactly the present objects.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict`.
    private func check(present: [ObjectID]) throws(CommandFailure) {
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

/// `approval.set`: sets whether a second person must approve each message to a subject. `unchangedSince` as for ``UpdateChannel``.
package struct SetApproval: ChannelEditing {
    package static let name = "approval.set"
    package typealias Value = Approval

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let subjectID: ObjectID
    package let approval: Bool
    package let unchangedSince: CubeVersion?

    package init(
        channelID: ObjectID, areaID: ObjectID, subjectID: ObjectID, approval: Bool, unchangedSince: CubeVersion? = nil
    ) {
        self.channelID = channelID
        self.areaID = areaID
        self.subjectID = subjectID
        self.approval = approval
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subjectID, approval
        case unchangedSince = "unchanged_since"
    }

    package var places: [CubePlace] { [CubePlace(channelID, areaID, subjectID)] }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Approval {
        try channel.change(areaID, subjectID) { $0.approval = approval ? true : nil }
        return Approval(approval: approval)
    }
}
