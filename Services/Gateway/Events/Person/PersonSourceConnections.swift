/// The connections to the instances of a service, and when the open streams learn that its events may be missing. Pure.
///
/// While the service is away nobody is told: what an app would fetch then would be refused. All are told when it is there again.
struct PersonSourceConnections: Sendable {
    /// The minimum time between two resets. A service that hangs or ends again and again does not make all apps fetch each time.
    static let minGap = Duration.seconds(10)

    private var endpoints: Set<String> = []
    private var isDue = false
    private var lastTold: ContinuousClock.Instant?

    /// Whether an instance of the service is there.
    var isConnected: Bool { !endpoints.isEmpty }

    mutating func connected(to endpoint: String) {
        endpoints.insert(endpoint)
        isDue = true
    }

    /// A connection was lost. Without one before, nothing was.
    mutating func disconnected(from endpoint: String) {
        if endpoints.remove(endpoint) != nil { isDue = true }
    }

    /// Whether to tell the streams now what they do not know yet. The caller does so.
    mutating func takeDue(now: ContinuousClock.Instant) -> Bool {
        guard isDue, isConnected else { return false }
        if let lastTold, lastTold.duration(to: now) < Self.minGap { return false }
        isDue = false
        lastTold = now
        return true
    }
}
