/// Decides when the groups of pushes may ask for the pace's turn, so that pushes to many phones leave room for messages. Pure.
///
/// The groups under way have a limited number of recipients. The others wait: urgent ones before normal ones, and within an
/// urgency in the order in which their pushes arrived. Each urgency may always have one group under way, so that neither waits for
/// the answers of the other.
struct PushGroups<Waiter: Sendable>: Sendable {
    typealias Request = PacingStateMachine<Waiter>.Request

    private struct Urgency: Sendable {
        var waiting = PacingQueue<Waiter>()
        /// The recipients of the groups under way.
        var recipients = 0
    }

    private let maxRecipients: Int
    private var urgent = Urgency()
    private var normal = Urgency()

    /// - Parameter maxRecipients: The maximum number of recipients of the groups under way.
    init(maxRecipients: Int) {
        self.maxRecipients = maxRecipients
    }

    /// The recipients of the waiting groups.
    var cost: Int { urgent.waiting.cost + normal.waiting.cost }

    /// A lower bound of the deadlines of the waiting groups.
    var earliestDeadline: ContinuousClock.Instant? {
        [urgent.waiting.earliestDeadline, normal.waiting.earliestDeadline].compactMap(\.self).min()
    }

    /// Whether a new group need not wait.
    func mayBegin(_ cost: Int, isUrgent: Bool) -> Bool {
        (isUrgent ? urgent : normal).waiting.isEmpty && hasRoom(for: cost, isUrgent: isUrgent)
    }

    /// A group begins.
    mutating func begin(_ cost: Int, isUrgent: Bool) {
        if isUrgent { urgent.recipients += cost } else { normal.recipients += cost }
    }

    /// A group has ended.
    mutating func end(_ cost: Int, isUrgent: Bool) {
        begin(-cost, isUrgent: isUrgent)
    }

    /// A group waits until ``next(urgent:normal:)`` returns it.
    mutating func wait(_ request: Request) {
        if request.isAlert { urgent.waiting.insert(request) } else { normal.waiting.insert(request) }
    }

    /// Takes a waiting group for which there is room, and begins it.
    ///
    /// - Parameters:
    ///   - urgent: Whether it may be urgent.
    ///   - normal: Whether it may be normal.
    mutating func next(urgent mayBeUrgent: Bool, normal mayBeNormal: Bool) -> Request? {
        if mayBeUrgent, let request = urgent.waiting.first, hasRoom(for: request.cost, isUrgent: true) {
            urgent.waiting.removeFirst()
            urgent.recipients += request.cost
            return request
        }
        if mayBeNormal, let request = normal.waiting.first, hasRoom(for: request.cost, isUrgent: false) {
            normal.waiting.removeFirst()
            normal.recipients += request.cost
            return request
        }
        return nil
    }

    private func hasRoom(for cost: Int, isUrgent: Bool) -> Bool {
        let fits = urgent.recipients + normal.recipients + cost <= maxRecipients
        return isUrgent
            ? urgent.recipients == 0 || fits : normal.recipients == 0 || (urgent.waiting.isEmpty && fits)
    }

    /// The recipients of the waiting groups that go before a new one.
    func cost(before request: Request) -> Int {
        request.isAlert
            ? urgent.waiting.cost(before: request) : urgent.waiting.cost + normal.waiting.cost(before: request)
    }

    /// Removes the waiting groups whose callers have given up.
    mutating func removeLate(at now: ContinuousClock.Instant) -> [Request] {
        urgent.waiting.removeLate(at: now) + normal.waiting.removeLate(at: now)
    }

    /// Removes waiting groups.
    mutating func removeAll(where isGone: (Request) -> Bool) -> [Request] {
        urgent.waiting.removeAll(where: isGone) + normal.waiting.removeAll(where: isGone)
    }
}
