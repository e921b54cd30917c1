/// Received events that nobody has taken yet. When it is full, the oldest makes room, and whoever takes the next one is
/// told so.
struct EventQueue {
    private let capacity: Int
    private var events: [BusEvent] = []
    /// Where the oldest event is; what is before it has been taken.
    private var first = 0
    private var hasGap = false

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    mutating func append(_ event: BusEvent) {
        if events.count - first == capacity {
            _ = removeFirst()
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
        return first < events.count ? removeFirst() : nil
    }

    private mutating func removeFirst() -> BusEvent {
        let event = events[first]
        first += 1
        // Moving the rest down once in a while costs less than doing it every time.
        if first == events.count || first > capacity {
            events.removeFirst(first)
            first = 0
        }
        return event
    }
}
