/// Numbers the endpoints to which a client or a subscriber is connected. The instances of a pattern come and go. A pure value.
///
/// An instance whose socket's file is gone is *leaving*. It keeps its connection as long as that lasts: it may still send its last
/// replies, or only its file was removed, and will be there again.
struct EndpointSlots {
    enum Change: Hashable {
        /// Connect to this endpoint. It gets the next number, or that of a closed one.
        case open(Int, endpoint: String)
        case close(Int)
        case leaving(Int)
        /// The file of a leaving instance is there again.
        case back(Int)
    }

    private struct Slot {
        let endpoint: String
        let isFixed: Bool
        var isOpen = true
        var isFound = true
        var isConnected = false

        /// Whether the connection is to be closed.
        var isOver: Bool { isOpen && !isFound && !isConnected }
    }

    private var slots: [Slot]
    private var changes: [Change] = []
    /// Whether a leaving instance may have lost its connection.
    private var mayClose = false

    /// - Parameter instances: Those of the patterns. All these endpoints are connected already.
    init(fixed: [String], instances: [String]) {
        slots = fixed.map { Slot(endpoint: $0, isFixed: true) } + instances.map { Slot(endpoint: $0, isFixed: false) }
    }

    func endpoint(_ number: Int) -> String { slots[number].endpoint }

    var hasChanges: Bool { mayClose || !changes.isEmpty }

    /// What to do, in this order.
    mutating func takeChanges() -> [Change] {
        if mayClose {
            for number in slots.indices where slots[number].isOver {
                slots[number].isOpen = false
                changes.append(.close(number))
            }
        }
        mayClose = false
        defer { changes = [] }
        return changes
    }

    // MARK: Events

    /// The instances of the patterns that are there now.
    mutating func found(_ instances: [String]) {
        let found = Set(instances)
        for number in slots.indices where slots[number].isOpen && !slots[number].isFixed {
            let isFound = found.contains(slots[number].endpoint)
            guard isFound != slots[number].isFound else { continue }
            slots[number].isFound = isFound
            changes.append(isFound ? .back(number) : .leaving(number))
            mayClose = true
        }
        let open = Set(slots.lazy.filter(\.isOpen).map(\.endpoint))
        for endpoint in instances where !open.contains(endpoint) {
            let slot = Slot(endpoint: endpoint, isFixed: false)
            let number = slots.firstIndex { !$0.isOpen } ?? slots.endIndex
            if number == slots.endIndex { slots.append(slot) } else { slots[number] = slot }
            changes.append(.open(number, endpoint: endpoint))
        }
    }

    mutating func connected(_ number: Int) {
        slots[number].isConnected = true
    }

    mutating func disconnected(_ number: Int) {
        slots[number].isConnected = false
        mayClose = mayClose || slots[number].isOver
    }

    /// The endpoint could not be opened. ``found(_:)`` tries it again.
    mutating func failed(_ number: Int) {
        slots[number].isOpen = false
    }
}
