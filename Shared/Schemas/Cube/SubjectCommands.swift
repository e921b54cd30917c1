package import Base

/// `subject.add`: a new subject at the end of an area. The cube makes its id and topic key (seed, "Subject", `add`).
package struct AddSubject: ChannelEditing {
    package static let name = "subject.add"
    package typealias Value = Subject

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

    package var places: [CubePlace] { [CubePlace(channelID, areaID)] }
    package var scope: CubeScope { .addition }

    package static func newID(in subject: Subject) -> ObjectID? { subject.id }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Subject {
        let topicKey = TopicKey(channel: channelID, area: areaID, subject: newID)
        let subject = Subject(id: newID, name: subject.name, desc: subject.desc, topicKey: topicKey, opt: subject.opt)
        try channel.change(areaID) { $0.subjects.append(subject) }
        return subject
    }
}

/// `subject.update`: replaces a subject's name, description and options, and keeps its topic key (seed, "Subject", `update`).
/// `unchangedSince` as for ``UpdateChannel``.
package struct UpdateSubject: ChannelEditing {
    package static let name = "subject.update"
    package typealias Value = Subject

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

    package var places: [CubePlace] { [CubePlace(channelID, areaID, subjectID)] }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Subject {
        try channel.change(areaID, subjectID) { subject in
            (subject.name, subject.desc, subject.opt) = (self.subject.name, self.subject.desc, self.subject.opt)
            return subject
        }
    }
}

/// `subject.delete`: removes a subject (seed, "Subject", `delete`). `unchangedSince` as for ``UpdateChannel``.
package struct DeleteSubject: ChannelEditing {
    package static let name = "subject.delete"
    package typealias Value = Done

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

    package var places: [CubePlace] { [CubePlace(channelID, areaID, subjectID)] }
    package var scope: CubeScope { .contents }

    package func apply(to channel: inout Channel, newID: ObjectID) throws(CommandFailure) -> Done {
        _ = try channel.removeSubject(subjectID, of: areaID)
        return Done()
    }
}

/// `subject.move`: moves a subject to the end of another area, perhaps of another channel. Its id, its topic key and everything else stay.
/// `unchangedSince` as for ``UpdateChannel``.
///
/// Phones are subscribed by the topic key, and messages are archived by it. So the topic key of a moved subject names the channel and
/// the area in which it was added, and no longer those in which it is.
package struct MoveSubject: CubeEditing, Checked {
    package static let name = "subject.move"
    package typealias Value = Subject

    package let channelID: ObjectID
    package let areaID: ObjectID
    package let subjectID: ObjectID
    package let to: SubjectPlace
    package let unchangedSince: CubeVersion?

    package init(
        channelID: ObjectID, areaID: ObjectID, subjectID: ObjectID, to: SubjectPlace, unchangedSince: CubeVersion? = nil
    ) {
        self.channelID = channelID
        self.areaID = areaID
        self.subjectID = subjectID
        self.to = to
        self.unchangedSince = unchangedSince
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channelID, areaID, subjectID, to
        case unchangedSince = "unchanged_since"
    }

    package func check() throws(SchemaViolation) {
        guard to.channel != channelID || to.area != areaID else {
            throw SchemaViolation(CodingKeys.to, "expected another area than the one in which the subject is")
        }
    }

    package var places: [CubePlace] { [CubePlace(channelID, areaID, subjectID), CubePlace(to.channel, to.area)] }

    package func apply(to cube: inout some EditableCube, newID: ObjectID) throws -> Subject {
        let subject = try cube.change(channelID) { channel throws(CommandFailure) in
            try channel.removeSubject(subjectID, of: areaID)
        }
        try cube.change(to.channel) { channel throws(CommandFailure) in
            try channel.change(to.area) { $0.subjects.append(subject) }
        }
        return subject
    }
}
