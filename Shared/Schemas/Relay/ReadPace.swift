import JSON

/// `relay.pace`: how fast the relay lets sends out at this moment, and what keeps them waiting.
package struct ReadPace: Command, Hashable {
    package static let name = "relay.pace"
    package typealias Reply = RelayPace

    package init() {}
}

/// The reply to `relay.pace`.
package struct RelayPace: Codable, Hashable, Sendable {
    /// One for each Firebase project; the standard one first.
    package let projects: [ProjectPace]

    package init(projects: [ProjectPace]) {
        self.projects = projects
    }
}

/// How fast a project's sends may go out. A message is one send for each of its components.
package struct ProjectPace: Codable, Hashable, Sendable {
    package let id: String
    /// Sends a second, now.
    package let rate: Double
    /// Sends a second once the ramp is over.
    package let fullRate: Double
    /// Sends that wait for their turn.
    package let waiting: Int
    /// For how many milliseconds more FCM's quota for the project is used up; absent where it is not.
    package let pausedFor: Int64?

    private enum CodingKeys: String, CodingKey {
        case id, rate, waiting
        case fullRate = "full_rate"
        case pausedFor = "paused_for"
    }

    package init(id: String, rate: Double, fullRate: Double, waiting: Int, pausedFor: Int64?) {
        self.id = id
        self.rate = rate
        self.fullRate = fullRate
        self.waiting = waiting
        self.pausedFor = pausedFor
    }
}
