/// `channel.add`: a new, empty channel.
package struct AddChannel: CubeEditing {
    package static let name = "channel.add"
    package typealias Value = Channel

    package let channel: NamedDraft

    package init(channel: NamedDraft) {
        self.channel = channel
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel
    }

    package var places: [CubePlace] { [] }
    package var scope: CubeScope { .addition }

    package static func newID(in channel: Channel) -> ObjectID? { channel.id }

    package func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> Channel {
        let channel = Channel(id: newID, name: channel.name, desc: channel.desc)
        try cube.add(channel)
        return channel
    }
}

/// `channel.update`: replaces a channel's name and description, and keeps its areas.
package struct UpdateChannel: ChannelEditing {
    package static let name = "channel.update"
    package typealias Value = Channel

    package let channelID: ObjectID
    package let channel: NamedDraft
    /// The version of the cube that the editor has read. If the channel was changed later, or the cube does not have this version
    /// yet, the edit is a `conflict`. Without this field the edit always succeeds.
    package let unchangedSince: CubeVersion?

    package init(channelID: ObjectID, channel: NamedDraft, unchangedSince: CubeVersion? = nil) {
        self.channelID = channelID
        self.channel = channel
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, channel
        case unchangedSince = "unchanged_since"
    }

    package var places: [CubePlace] { [CubePlace(channelID)] }

    package func apply(to channel: inout Channel, newID: ObjectID) -> Channel {
        (channel.name, channel.desc) = (self.channel.name, self.channel.desc)
        return channel
    }
}

/// `channel.delete`: removes a channel with everything in it. `unchangedSince` as for ``UpdateChannel``.
package struct DeleteChannel: CubeEditing {
    package static let name = "channel.delete"
    package typealias Value = Done

    package let channelID: ObjectID
    package let unchangedSince: CubeVersion?

    package init(channelID: ObjectID, unchangedSince: CubeVersion? = nil) {
        self.channelID = channelID
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID
        case unchangedSince = "unchanged_since"
    }

    package var places: [CubePlace] { [CubePlace(channelID)] }
    package var scope: CubeScope { .contents }

    package func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> Done {
        try cube.remove(channelID)
        return Done()
    }
}
