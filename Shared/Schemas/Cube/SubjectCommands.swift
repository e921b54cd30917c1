import JSON

/// `subject.add`: a new subject at the end of an area. The cube makes its id and topic key (seed, "Subject", `add`).
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
}

/// `subject.update`: replaces a subject's name, description and options, and keeps its topic key (seed, "Subject", `update`).
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
}
