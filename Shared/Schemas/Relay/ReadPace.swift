import JSON
package import Time

/// `relay.pace`: the relay's present rate of sends, and the waiting sends.
package struct ReadPace: Command, Hashable {
    package static let name = "relay.pace"
    package typealias Reply = RelayPace

    package init() {}
}

/// The reply to `relay.pace`.
package struct RelayPace: Codable, Hashable, Sendable {
    /// One for each Firebase project, the default one first.
    package let projects: [ProjectPace]

    package init(projects: [ProjectPace]) {
        self.projects = projects
    }
}

/// The rate of a project's sends. A message is one send for each component.
package struct ProjectPace: Codable, Hashable, Sendable {
    package let id: String
    /// Sends a second, now.
    package let rate: Double
    /// Sends a second once the ramp is over.
    package let fullRate: Double
    /// The number of sends that wait for their turn.
    package let waiting: Int
    /// How much longer FCM's quota for the project is used up; absent if it is not.
    package let pausedFor: Milliseconds?

    private enum CodingKeys: String, CodingKey {
        case id, rate, waiting
        case fullRate = "full_rate"
        case pausedFor = "paused_for"
    }

    package init(id: String, rate: Double, fullRate: Double, waiting: Int, pausedFor: Milliseconds?) {
        self.id = id
        self.rate = rate
        self.fullRate = fullRate
        self.waiting = waiting
        self.pausedFor = pausedFor
    }
}
