package import Base

/// `erasure.list`: what came of erasures. It names nobody: the hub does not know whom it has erased.
package struct ListErasures: Command {
    package static let name = "erasure.list"

    package struct Reply: Codable, Hashable, Sendable {
        /// How many names are never given again, since their persons were erased.
        package let erasedNames: Int
        /// The erasures that some service has not answered yet, at most ``maxReports``.
        package let waiting: [ErasureReport]
        /// The latest ones of the last 30 days that are finished, the newest first, at most ``maxReports``.
        package let finished: [ErasureReport]

        package init(erasedNames: Int, waiting: [ErasureReport], finished: [ErasureReport]) {
            self.erasedNames = erasedNames
            self.waiting = waiting
            self.finished = finished
        }

        private enum CodingKeys: String, CodingKey {
            case waiting, finished
            case erasedNames = "erased_names"
        }
    }

    /// The maximum number of each kind of report.
    package static let maxReports = 100

    package init() {}
}

/// The stored pushes to persons that the people service has not handed over to the message log. `msi restore` marks those of a backup,
/// since they may have gone out after it was made: the people service hands them over as held ones.
package enum PersonPushHold {
    /// The collection of the people service.
    package static let collection = "person_push"
    /// A field that every push has.
    package static let plannedField = "at"
    /// The field with the time of the restore.
    package static let field = "restored"
}

/// The stored erasures that `msi restore` begins again: those that had not ended when the backup was begun. A store that was copied earlier
/// than the people service's still has these persons.
package enum RepeatedErasures {
    /// The collection of the people service.
    package static let collection = "erasure"
    /// When it ended, and how long its report is kept; an erasure that has not ended has neither.
    package static let endField = "finished"
    package static let expiryField = "expires"
    /// The services that have answered.
    package static let servicesField = "services"
    /// How far the clocks of the people service and of the machine of the backup may differ.
    package static let tolerance = Milliseconds.seconds(60)
}
