import DequeModule

/// Sends that wait for their turn, in order. Pure.
struct PacingQueue<Waiter: Sendable>: Sendable {
    typealias Request = PacingStateMachine<Waiter>.Request

    private var requests: Deque<Request> = []
    /// The total cost of the queue.
    private(set) var cost = 0
    private var groups = 0
    /// A lower bound of the deadlines in the queue. It may be too early, since the end of a request does not change it.
    private(set) var earliestDeadline: ContinuousClock.Instant?

    var isEmpty: Bool { requests.isEmpty }
    var first: Request? { requests.first }
    /// Whether a group of a push is in the queue.
    var hasGroup: Bool { groups > 0 }

    mutating func append(_ request: Request) {
        insert(request, at: requests.count)
    }

    /// Inserts a group before the groups of pushes that have arrived later.
    mutating func insert(_ request: Request) {
        insert(request, at: requests.lastIndex { !request.isBefore($0) }.map { $0 + 1 } ?? 0)
    }

    private mutating func insert(_ request: Request, at index: Int) {
        requests.insert(request, at: index)
        cost += request.cost
        if request.isGroup { groups += 1 }
        earliestDeadline = min(earliestDeadline ?? request.deadline, request.deadline)
    }

    /// The cost of the groups that a group would find before itself.
    func cost(before request: Request) -> Int {
        requests.lazy.prefix { !request.isBefore($0) }.reduce(0) { $0 + $1.cost }
    }

    mutating func removeFirst() {
        let first = requests.removeFirst()
        cost -= first.cost
        if first.isGroup { groups -= 1 }
        if isEmpty { earliestDeadline = nil }
    }

    /// Removes the sends whose callers have given up. Nearly always this is one comparison.
    mutating func removeLate(at now: ContinuousClock.Instant) -> [Request] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let late = removeAll { $0.deadline <= now }
        self.earliestDeadline = requests.lazy.map(\.deadline).min()
        return late
    }

    mutating func removeAll(where isGone: (Request) -> Bool) -> [Request] {
        let gone: [Request] = requests.filter(isGone)
        if !gone.isEmpty {
            requests.removeAll(where: isGone)
            cost -= gone.reduce(0) { $0 + $1.cost }
            groups -= gone.count(where: \.isGroup)
        }
        return gone
    }
}

extension PacingStateMachine.Request {
    /// Whether a group belongs to an earlier push than another one.
    fileprivate func isBefore(_ other: Self) -> Bool {
        guard let pushArrival, let otherArrival = other.pushArrival else { return false }
        return pushArrival < otherArrival
    }
}
