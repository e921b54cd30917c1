/// How many messages are in which state: the answer of `GET /statistics`.
package struct MessageStatistics: Codable, Hashable, Sendable {
    /// The messages of a span of time.
    package struct Bucket: Codable, Hashable, Sendable {
        /// The beginning, inclusive.
        package let from: UnixMilliseconds
        /// The end, exclusive.
        package let to: UnixMilliseconds
        package var states: StateCounts

        package init(from: UnixMilliseconds, to: UnixMilliseconds, states: StateCounts = StateCounts()) {
            self.from = from
            self.to = to
            self.states = states
        }
    }

    /// All messages, including those outside the spans.
    package var states: StateCounts
    /// How many of the pending messages do not go out before a later time, by their `send_at` or their `delay`.
    package var scheduled: Int
    /// The oldest message that is pending or retrying and not scheduled; absent if there is none.
    package var oldestWaiting: Message?
    /// One for each span, in order.
    package var buckets: [Bucket]

    private enum CodingKeys: String, CodingKey {
        case states, scheduled, buckets
        case oldestWaiting = "oldest_waiting"
    }

    package init(states: StateCounts, scheduled: Int, oldestWaiting: Message? = nil, buckets: [Bucket]) {
        self.states = states
        self.scheduled = scheduled
        self.oldestWaiting = oldestWaiting
        self.buckets = buckets
    }

    /// The statistics of no messages.
    ///
    /// - Parameter edges: The edges of the spans, which ascend.
    package init(edges: [UnixMilliseconds]) {
        self.init(states: StateCounts(), scheduled: 0, buckets: zip(edges, edges.dropFirst()).map { Bucket(from: $0, to: $1) })
    }
}

/// The number of messages in each state.
package struct StateCounts: Codable, Hashable, Sendable {
    private var held = 0
    private var pending = 0
    private var retrying = 0
    private var relayed = 0
    private var failed = 0
    private var expired = 0
    private var recalled = 0

    package init() {}

    package subscript(state: RelayState) -> Int {
        get { self[keyPath: Self.field(state)] }
        set { self[keyPath: Self.field(state)] = newValue }
    }

    package static func + (one: StateCounts, other: StateCounts) -> StateCounts {
        RelayState.allCases.reduce(into: one) { $0[$1] += other[$1] }
    }

    private static func field(_ state: RelayState) -> WritableKeyPath<StateCounts, Int> {
        switch state {
        case .held: \.held
        case .pending: \.pending
        case .retrying: \.retrying
        case .relayed: \.relayed
        case .failed: \.failed
        case .expired: \.expired
        case .recalled: \.recalled
        }
    }
}
