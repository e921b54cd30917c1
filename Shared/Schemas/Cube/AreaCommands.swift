/// `area.add`: a new, empty area at the end of a channel (seed, "Area", `add`).
package struct AddArea: ChannelEditing {
    package static let name = "area.add"
    package typealias Value = Area

    package let channelID: ObjectID
    package let area: NamedDraft

    package init(channelID: ObjectID, area: NamedDraft) {
        self.channelID = channelID
        self.area = area
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, area
    }

    package var places: [CubePlace] { [CubePlace(channelID)] }
    package var scope: CubeScope { .addition }

    package static func newID(in area: Area) -> ObjectID? { area.id }

    package func apply(to channel: inout Channel, newID: ObjectID) -> Area {
        let area = Area(id: newID, name: area.name, desc: area.desc)
        channel.areas.append(area)
        return area
    }
}

/// `area.update`: replaces an area's name and description, and keeps its subjects (seed, "Area", `update`).
/// `unchangedSince` as for ``UpdateChannel``.
package struct UpdateArea: ChannelEditing {
    package static let name = "area.update"
    package typealias Value = Area

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

    package var places: [CubePlace] { [CubePlace(channelID, areaID)] }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Area {
        try channel.change(areaID) { area in
            (area.name, area.desc) = (self.area.name, self.area.desc)
            return area
        }
    }
}

/// `area.delete`: removes an area with its subjects (seed, "Area", `delete`). `unchangedSince` as for ``UpdateChannel``.
package struct DeleteArea: ChannelEditing {
    package static let name = "area.delete"
    package typealias Value = Done

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

    package var places: [CubePlace] { [CubePlace(channelID, areaID)] }
    package var scope: CubeScope { .contents }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Done {
        guard let index = channel.areas.firstIndex(where: { $0.id == areaID }) else { throw .noArea(areaID, in: channel.id) }
        channel.areas.remove(at: index)
        return Done()
    }
}
