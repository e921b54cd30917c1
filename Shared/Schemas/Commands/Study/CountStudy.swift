package import Base

/// `study.counts`: how many classes and open study sessions there are, for the operator. It needs no person, and names none.
package struct CountStudy: Command {
    package static let name = "study.counts"

    package struct Reply: Codable, Hashable, Sendable {
        /// Those that are not closed.
        package let classes: Int
        /// The open sessions.
        package let sessions: Int
        /// The persons who are in one.
        package let attendants: Int
        /// When the service has to look at a session next; absent for none. If it has passed, something waits to be done.
        package let due: UnixMilliseconds?
        package let now: UnixMilliseconds

        package init(classes: Int, sessions: Int, attendants: Int, due: UnixMilliseconds?, now: UnixMilliseconds) {
            self.classes = classes
            self.sessions = sessions
            self.attendants = attendants
            self.due = due
            self.now = now
        }
    }

    package init() {}
}

extension CountStudy.Reply {
    /// For how long something has waited to be done; 0 for nothing.
    package var overdue: Milliseconds { max(.zero, now - (due ?? now)) }
}
