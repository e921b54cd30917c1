import DequeModule

/// Received events that are not consumed yet. When the queue is full, the oldest event is dropped, and the consumer gets
/// ``BusEvent/missed`` next.
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

    /// The oldest event, or ``BusEvent/missed`` if older ones were dropped.
    mutating func next() -> BusEvent? {
        if hasGap {
            hasGap = false
            return .missed
        }
        return events.popFirst()
    }
}
