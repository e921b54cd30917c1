import Base

/// Chooses the endpoint of each request in a client's pool, and how each request ends. A pure value: events in, actions
/// out; time is an argument.
///
/// - A request goes to the endpoint with the fewest outstanding requests. If no endpoint is connected, it waits for a moment.
/// - An endpoint is *suspect* if a request reached its deadline there and no reply has come since the request was sent. It gets
///   no requests while there is another endpoint, and is probed until it answers anything.
/// - An endpoint that answers `unavailable` or `overloaded` *rests* for about a second. It gets requests only if all others are
///   leaving, are suspect or rest as well. Otherwise an endpoint that fails at once would always be the least busy, and get most requests.
/// - Endpoints come and go. One that is *leaving* will probably close its connection soon. It gets requests only if all others are
///   suspect or leaving as well.
struct ClientPoolStateMachine<Request> {
    typealias ID = UInt64

    struct Configuration {
        var endpoints: Int
        /// The maximum number of requests, outstanding and waiting together.
        var maxPending = 10_000
        /// How long a request waits for a connection.
        var connectGrace: Milliseconds = 1_000
        /// The interval between probes.
        var probeInterval: Milliseconds = 1_000
        /// How long an endpoint rests.
        var restTime: Milliseconds = 1_000
    }

    /// How a request ends without a reply.
    enum Failure: Hashable {
        /// The limit of requests is reached.
        case overloaded
        /// No endpoint was connected in time. The request was not sent.
        case notConnected
        /// Its connection was lost. The outcome is unknown.
        case connectionLost(endpoint: Int)
        case deadlineExceeded
        case cancelled
        case stopped
    }

    enum RequestAction: Hashable {
        case send(endpoint: Int)
        /// The request waits until an endpoint connects.
        case wait
        case fail(Failure)
    }

    struct TickActions {
        var failed: [(request: Request, failure: Failure)] = []
        /// Requests whose callers must be told that they take longer.
        var slow: [Request] = []
        /// The endpoints to send `bus.ping` to.
        var probe: [Int] = []
    }

    private struct Entry {
        let request: Request
        let deadline: MonotonicMilliseconds
        /// When it fails: at its deadline or, while it waits for a connection, at the end of the grace time if that is earlier.
        var expires: MonotonicMilliseconds
        /// When its caller is told that it takes longer; `.max` for never.
        var slowAt: MonotonicMilliseconds
        /// The endpoint that it was sent to; `nil` while it waits.
        var endpoint: Int?
        /// The endpoint's count of replies when the request was sent.
        var repliesBefore: UInt64

        /// When its next timer is due.
        var due: MonotonicMilliseconds { min(expires, slowAt) }
    }

    private struct Endpoint {
        var isConnected = false
        var outstanding = 0
        var replies: UInt64 = 0
        /// When the next probe is due; `nil` unless the endpoint is suspect.
        var nextProbe: MonotonicMilliseconds?
        /// The end of its rest.
        var restsUntil: MonotonicMilliseconds = 0
        var isLeaving = false

        /// The penalty in the choice of an endpoint: 0 if it is healthy.
        func penalty(now: MonotonicMilliseconds) -> Int {
            nextProbe != nil ? 3 : isLeaving ? 2 : restsUntil > now ? 1 : 0
        }
    }

    private let configuration: Configuration
    private var endpoints: [Endpoint]
    private var entries: [ID: Entry] = [:]
    private var waiting = 0
    private var isStopped = false
    /// A lower bound of all due times. It may be too early, since the end of a request does not change it. One scan of all
    /// entries then corrects it, which is far cheaper than a sorted list.
    private var earliestDue = MonotonicMilliseconds.max
    /// The start of the search for an endpoint (round robin among equals).
    private var searchStart = 0

    init(_ configuration: Configuration) {
        self.configuration = configuration
        endpoints = Array(repeating: Endpoint(), count: configuration.endpoints)
    }

    /// When ``tick(now:)`` is due.
    var nextTick: MonotonicMilliseconds? {
        let probes = endpoints.lazy.compactMap { $0.isConnected ? $0.nextProbe : nil }.min() ?? .max
        let next = min(probes, entries.isEmpty ? .max : earliestDue)
        return next == .max ? nil : next
    }

    // MARK: Events

    /// A new request; `id` is not in use.
    ///
    /// - Parameter slowAt: When the caller is told that it takes longer.
    mutating func request(
        _ request: Request, id: ID, deadline: MonotonicMilliseconds, slowAt: MonotonicMilliseconds = .max,
        now: MonotonicMilliseconds
    ) -> RequestAction {
        if isStopped { return .fail(.stopped) }
        if deadline <= now { return .fail(.deadlineExceeded) }
        if entries.count >= configuration.maxPending || entries[id] != nil { return .fail(.overloaded) }
        var entry = Entry(
            request: request, deadline: deadline, expires: min(deadline, now + configuration.connectGrace),
            slowAt: slowAt, endpoint: nil, repliesBefore: 0)
        let action: RequestAction
        if let endpoint = chooseEndpoint(now: now) {
            assign(&entry, to: endpoint)
            action = .send(endpoint: endpoint)
        } else {
            waiting += 1
            action = .wait
        }
        earliestDue = min(earliestDue, entry.due)
        entries[id] = entry
        return action
    }

    /// The socket had no room for a request. The request was not sent, and is removed.
    mutating func sendRefused(id: ID) -> Request? {
        remove(id)
    }

    /// A reply was received.
    ///
    /// - Parameter id: The request's id; `nil` if the reply belongs to no request. Such a reply still shows that the
    ///   endpoint is alive.
    /// - Returns: The request, unless it has ended already.
    mutating func reply(id: ID?, from endpoint: Int) -> Request? {
        endpoints[endpoint].replies &+= 1
        endpoints[endpoint].nextProbe = nil
        guard let id, let index = entries.index(forKey: id), entries.values[index].endpoint == endpoint else { return nil }
        endpoints[endpoint].outstanding -= 1
        return entries.remove(at: index).value.request
    }

    /// An endpoint answered `unavailable` or `overloaded`.
    mutating func rest(_ endpoint: Int, now: MonotonicMilliseconds) {
        endpoints[endpoint].restsUntil = now + configuration.restTime
    }

    /// An endpoint connected.
    ///
    /// - Returns: The waiting requests to send now, oldest first.
    mutating func connected(
        _ endpoint: Int, now: MonotonicMilliseconds
    ) -> [(id: ID, request: Request, endpoint: Int)] {
        endpoints[endpoint].isConnected = true
        endpoints[endpoint].restsUntil = 0
        guard waiting > 0 else { return [] }
        waiting = 0
        return entries.filter { $0.value.endpoint == nil }.sorted { $0.key < $1.key }.map { id, entry in
            var entry = entry
            let chosen = chooseEndpoint(now: now) ?? endpoint
            assign(&entry, to: chosen)
            entries[id] = entry
            return (id, entry.request, chosen)
        }
    }

    /// An endpoint's connection was lost.
    ///
    /// - Returns: Its outstanding requests. Each fails with ``Failure/connectionLost(endpoint:)``.
    mutating func disconnected(_ endpoint: Int) -> [Request] {
        endpoints[endpoint].isConnected = false
        endpoints[endpoint].nextProbe = nil
        guard endpoints[endpoint].outstanding > 0 else { return [] }
        return entries.filter { $0.value.endpoint == endpoint }.keys.sorted().compactMap { remove($0) }
    }

    /// Adds an endpoint, which is not connected yet. It gets the next number, or the number of an endpoint that is no longer connected.
    mutating func added(_ endpoint: Int) {
        if endpoint == endpoints.count { endpoints.append(Endpoint()) } else { endpoints[endpoint] = Endpoint() }
    }

    /// An endpoint will probably close its connection, or will not do so after all.
    mutating func setLeaving(_ endpoint: Int, _ isLeaving: Bool) {
        endpoints[endpoint].isLeaving = isLeaving
    }

    func isConnected(_ endpoint: Int) -> Bool {
        endpoints[endpoint].isConnected
    }

    /// The caller has cancelled a request.
    ///
    /// - Returns: The request, unless it has ended already.
    mutating func cancelled(id: ID) -> Request? {
        remove(id)
    }

    /// Time has passed.
    mutating func tick(now: MonotonicMilliseconds) -> TickActions {
        var actions = TickActions()
        if earliestDue <= now { scanEntries(now, &actions) }
        for index in endpoints.indices where endpoints[index].isConnected {
            guard let due = endpoints[index].nextProbe, due <= now else { continue }
            endpoints[index].nextProbe = now + configuration.probeInterval
            actions.probe.append(index)
        }
        return actions
    }

    /// The client closes. Each returned request fails with ``Failure/stopped``.
    mutating func stop() -> [Request] {
        isStopped = true
        return entries.keys.sorted().compactMap { remove($0) }
    }

    // MARK: Steps

    private mutating func scanEntries(_ now: MonotonicMilliseconds, _ actions: inout TickActions) {
        for (id, entry) in entries.filter({ $0.value.due <= now }).sorted(by: { $0.key < $1.key }) {
            if entry.expires <= now {
                expire(id, entry, now)
                actions.failed.append((entry.request, entry.endpoint == nil ? .notConnected : .deadlineExceeded))
            } else {
                entries[id]?.slowAt = .max
                actions.slow.append(entry.request)
            }
        }
        earliestDue = entries.values.lazy.map(\.due).min() ?? .max
    }

    private mutating func expire(_ id: ID, _ entry: Entry, _ now: MonotonicMilliseconds) {
        remove(id)
        if let endpoint = entry.endpoint, endpoints[endpoint].replies == entry.repliesBefore, endpoints[endpoint].nextProbe == nil
        {
            endpoints[endpoint].nextProbe = now
        }
    }

    /// The connected endpoint with the fewest outstanding requests. Endpoints that rest come after healthy ones, and
    /// suspect ones come last.
    private mutating func chooseEndpoint(now: MonotonicMilliseconds) -> Int? {
        var best: Int?
        for offset in endpoints.indices {
            let index = (searchStart + offset) % endpoints.count
            guard endpoints[index].isConnected else { continue }
            if let current = best, !isBetter(endpoints[index], than: endpoints[current], now) { continue }
            best = index
        }
        if let best { searchStart = (best + 1) % endpoints.count }
        return best
    }

    private func isBetter(_ endpoint: Endpoint, than other: Endpoint, _ now: MonotonicMilliseconds) -> Bool {
        let (penalty, otherPenalty) = (endpoint.penalty(now: now), other.penalty(now: now))
        return penalty == otherPenalty ? endpoint.outstanding < other.outstanding : penalty < otherPenalty
    }

    private mutating func assign(_ entry: inout Entry, to endpoint: Int) {
        endpoints[endpoint].outstanding += 1
        entry.endpoint = endpoint
        entry.repliesBefore = endpoints[endpoint].replies
        entry.expires = entry.deadline
    }

    @discardableResult
    private mutating func remove(_ id: ID) -> Request? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if let endpoint = entry.endpoint {
            endpoints[endpoint].outstanding -= 1
        } else {
            waiting -= 1
        }
        return entry.request
    }
}
