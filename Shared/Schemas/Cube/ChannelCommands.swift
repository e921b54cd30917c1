import JSON

/// `channel.add`: a new, empty channel.
package struct AddChannel: Command {
    package static let name = "channel.add"
    package typealias Reply = CubeEdit<Channel>

    package let channel: NamedDraft

    package init(channel: NamedDraft) {
        self.channel = channel
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel
    }
}

/// `channel.update`: replaces a channel's name and description, and keeps its areas.
package struct UpdateChannel: Command {
    package static let name = "channel.update"
    package typealias Reply = CubeEdit<Channel>

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
}

/// `channel.delete`: removes a channel with everything in it. `unchangedSince` as for ``UpdateChannel``.
package struct DeleteChannel: Command {
    package static let name = "channel.delete"
    package typealias Reply = CubeEdit<Done>

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
}
