package import Base

/// The limits of study sessions that the operator sets. The study service reads the settings, and apps show them.
package struct StudyRules: Codable, Hashable, Sendable {
    /// The radius of a session's area in metres.
    package let radius: Int
    /// A reported position counts if its accuracy in metres is at most this.
    package let accuracy: Int
    /// How many seconds after its host was seen outside of the area a session ends.
    package let grace: Seconds
    /// The maximum planned duration in minutes.
    package let maxMinutes: Int
    /// The maximum number of attendants of a session.
    package let attendants: Int
    /// The sponsored sessions that a person of a class's staff may have open without attending them.
    package let sponsored: Int
    /// The posts of a person within a minute.
    package let postsPerMinute: Int
    /// The invitations of a person to one session.
    package let invites: Int
    /// The classes that a person may be in.
    package let classes: Int
    /// The persons of a class.
    package let members: Int
    /// The open sessions of a class.
    package let sessions: Int

    package init(
        radius: Int, accuracy: Int, grace: Seconds, maxMinutes: Int, attendants: Int, sponsored: Int, postsPerMinute: Int,
        invites: Int, classes: Int, members: Int, sessions: Int
    ) {
        self.radius = radius
        self.accuracy = accuracy
        self.grace = grace
        self.maxMinutes = maxMinutes
        self.attendants = attendants
        self.sponsored = sponsored
        self.postsPerMinute = postsPerMinute
        self.invites = invites
        self.classes = classes
        self.members = members
        self.sessions = sessions
    }

    private enum CodingKeys: String, CodingKey {
        case radius, accuracy, grace, attendants, sponsored, invites, classes, members, sessions
        case maxMinutes = "max_minutes"
        case postsPerMinute = "posts_per_minute"
    }
}

extension StudyRules {
    /// What a position says about somebody who has to be at a place.
    package enum Nearness: Hashable, Sendable {
        case near, far
        /// The position is not accurate enough to count.
        case unknown
    }

    /// Whether a position is in the area around a place. The accuracy counts for the person: who may be inside is inside.
    package func nearness(of position: Position, to place: Coordinate) -> Nearness {
        guard position.accuracy <= Double(accuracy) else { return .unknown }
        return position.coordinate.distance(to: place) <= Double(radius) + position.accuracy ? .near : .far
    }
}
