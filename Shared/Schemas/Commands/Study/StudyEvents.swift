import Base

/// The event `class.changed`: something has changed in a class that an open app shows. The app fetches what it is.
///
/// Each process counts its events, apart from those of ``PersonChanged``. A subscriber that misses a number tells all its readers
/// that something may be missing.
package struct ClassChanged: Codable, Hashable, Sendable {
    package static let name = "class.changed"

    package enum Kind: String, ClosedEnum {
        /// A session has begun, has ended, or is another one: its attendants, its host, what it says about itself.
        case sessions
        /// There is a new post, or one was removed.
        case posts
    }

    /// Of the process.
    package let epoch: ObjectID
    /// From 1.
    package let number: Int64
    package let classID: ObjectID
    package let kind: Kind
    package let session: ObjectID

    package init(epoch: ObjectID, number: Int64, classID: ObjectID, kind: Kind, session: ObjectID) {
        self.epoch = epoch
        self.number = number
        self.classID = classID
        self.kind = kind
        self.session = session
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, number, kind, session
        case classID = "class"
    }
}

/// How `msi restore` marks what would come alive again with a backup. A session of a backup may have ended after it was made, so
/// every open one counts as ended, and nobody is told. Pushes that waited in the backup go nowhere: they are worth nothing by
/// then.
package enum StudyHold {
    /// The collection of the sessions, and a field that every open session has.
    package static let sessions = "study_session"
    package static let openField = "open"
    /// The collection of the pushes that the message log has not stored yet, and a field that every push has.
    package static let pushes = "study_push"
    package static let plannedField = "at"
    /// The field with the time of the restore, of both.
    package static let field = "restored"
    /// The field of a session with the time of the next work on it. The restore sets it to 0, so that the session ends at once.
    package static let dueField = "due"
}
