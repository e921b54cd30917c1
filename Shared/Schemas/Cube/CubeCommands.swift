/// `cube.read`: the whole cube, or only its version where the reader has that one already.
package struct ReadCube: Command {
    package static let name = "cube.read"

    /// `channels` is left out where `known` is still the latest version.
    package struct Reply: Codable, Hashable, Sendable {
        package let version: CubeVersion
        package let channels: [Channel]?

        package init(version: CubeVersion, channels: [Channel]?) {
            self.version = version
            self.channels = channels
        }
    }

    /// The version that the reader has.
    package let known: CubeVersion?

    package init(known: CubeVersion? = nil) {
        self.known = known
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case known
    }

    package init(from decoder: any Decoder) throws {
        known = try StrictFields(of: decoder, as: CodingKeys.self).optional(.known)
    }
}

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

    package init(from decoder: any Decoder) throws {
        channel = try StrictFields(of: decoder, as: CodingKeys.self).value(.channel)
    }
}

/// `channel.update`: replaces a channel's name and description, and leaves its areas.
package struct UpdateChannel: Command {
    package static let name = "channel.update"
    package typealias Reply = CubeEdit<Channel>

    package let channelID: ObjectID
    package let channel: NamedDraft
    /// The cube as its editor saw it: a `conflict` if the channel has been changed since. Without it the edit always wins.
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        channel = try fields.value(.channel)
        unchangedSince = try fields.optional(.unchangedSince)
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        unchangedSince = try fields.optional(.unchangedSince)
    }
}

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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        area = try fields.value(.area)
    }
}

/// `area.update`: replaces an area's name and description, and leaves its subjects (seed, "Area", `update`).
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        areaID = try fields.value(.areaID)
        area = try fields.value(.area)
        unchangedSince = try fields.optional(.unchangedSince)
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        areaID = try fields.value(.areaID)
        unchangedSince = try fields.optional(.unchangedSince)
    }
}

/// `subject.add`: a new subject at the end of an area; its id and topic key are made by the cube (seed, "Subject", `add`).
package struct AddSubject: Command {
    package static let name = "subject.add"
    package typealias Reply = CubeEdit<Subject>

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let subject: SubjectDraft

    package init(channelID: ObjectID, areaID: ObjectID, subject: SubjectDraft) {
        self.channelID = channelID
        self.areaID = areaID
        self.subject = subject
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subject
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        areaID = try fields.value(.areaID)
        subject = try fields.value(.subject)
    }
}

/// `subject.update`: replaces a subject's name, description and options; its topic key stays (seed, "Subject", `update`).
/// `unchangedSince` as for ``UpdateChannel``.
package struct UpdateSubject: Command {
    package static let name = "subject.update"
    package typealias Reply = CubeEdit<Subject>

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let subjectID: ObjectID
    package let subject: SubjectDraft
    package let unchangedSince: CubeVersion?

    package init(
        channelID: ObjectID, areaID: ObjectID, subjectID: ObjectID, subject: SubjectDraft,
        unchangedSince: CubeVersion? = nil
    ) {
        self.channelID = channelID
        self.areaID = areaID
        self.subjectID = subjectID
        self.subject = subject
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subjectID, subject
        case unchangedSince = "unchanged_since"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        areaID = try fields.value(.areaID)
        subjectID = try fields.value(.subjectID)
        subject = try fields.value(.subject)
        unchangedSince = try fields.optional(.unchangedSince)
    }
}

/// `subject.delete`: removes a subject (seed, "Subject", `delete`). `unchangedSince` as for ``UpdateChannel``.
package struct DeleteSubject: Command {
    package static let name = "subject.delete"
    package typealias Reply = CubeEdit<Done>

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let subjectID: ObjectID
    package let unchangedSince: CubeVersion?

    package init(channelID: ObjectID, areaID: ObjectID, subjectID: ObjectID, unchangedSince: CubeVersion? = nil) {
        self.channelID = channelID
        self.areaID = areaID
        self.subjectID = subjectID
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subjectID
        case unchangedSince = "unchanged_since"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channelID = try fields.value(.channelID)
        areaID = try fields.value(.areaID)
        subjectID = try fields.value(.subjectID)
        unchangedSince = try fields.optional(.unchangedSince)
    }
}
