import JSON

/// `area.add`: a new, empty area at the end of a channel (seed, "Area", `add`).
package struct AddArea: Command {
    package static let name = "area.add"
    package typealias Reply = CubeEdit<Area>

    package let channelID: ObjectID
    package let area: NamedDraft

    package init(channelID: ObjectID, area: NamedDraft) {
        self.channelID = channelID
        self.area = area
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, area
    }
}

/// `area.update`: replaces an area's name and description, and keeps its subjects (seed, "Area", `update`).
/// `unchangedSince` as for ``UpdateChannel``.
package struct UpdateArea: Command {
    package static let name = "area.update"
    package typealias Reply = CubeEdit<Area>

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let area: NamedDraft
    package let unchangedSince: CubeVersion?

    package init(channelID: ObjectID, areaID: ObjectID, area: NamedDraft, unchangedSince: CubeVersion? = nil) {
        self.channelID = channelID
        self.areaID = areaID
        self.area = area
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, area
        case unchangedSince = "unchanged_since"
    }
}

/// `area.delete`: removes an area with its subjects (seed, "Area", `delete`). `unchangedSince` as for ``UpdateChannel``.
package struct DeleteArea: Command {
    package static let name = "area.delete"
    package typealias Reply = CubeEdit<Done>

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let unchangedSince: CubeVersion?

    package init(channelID: ObjectID, areaID: ObjectID, unchangedSince: CubeVersion? = nil) {
        self.channelID = channelID
        self.areaID = areaID
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID
        case unchangedSince = "unchanged_since"
    }
}
