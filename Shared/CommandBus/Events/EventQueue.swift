import DequeModule

/// Received events that nobody has taken yet. When it is full, the oldest makes room, and whoever takes the next one is
/// told so.
struct EventQueue {
    private let capacity: Int
    private var events: Deque<BusEvent> = []
    private var hasGap = false

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    mutating func append(_ event: BusEvent) {
        if events.count == capacity {
            events.removeFirst()
            hasGap = true
        }
        events.append(event)
    }

    /// The oldest event, or ``BusEvent/missed`` where older ones were dropped.
    mutating func next() -> BusEvent? {
        if hasGap {
            hasGap = false
            return .missed
        }
        return events.popFirst()
    }
}
