package import JSON

/// `access.set`: replaces the list of a subject, or without `subjectID` that of an area, or without both that of a channel.
/// `unchangedSince` as for ``UpdateChannel``.
package struct SetAccess: Command, Checked {
    package static let name = "access.set"
    package typealias Reply = CubeEdit<AccessList>

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
}

/// `order.set`: sorts the subjects of an area, or without `areaID` the areas of a channel, or without both the channels.
///
/// `unchangedSince` as for ``UpdateChannel``: the sorted list counts as a part of the area or the channel that it is in. The order of
/// the channels is a part of the cube, which every edit changes.
package struct SetOrder: Command, Checked {
    package static let name = "order.set"
    package typealias Reply = CubeEdit<CubeOrder>

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
}

/// `approval.set`: sets whether a second person must approve each message to a subject. `unchangedSince` as for ``UpdateChannel``.
package struct SetApproval: Command {
    package static let name = "approval.set"
    package typealias Reply = CubeEdit<Approval>

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
}
