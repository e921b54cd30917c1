import SeededRandom

/// The schedule of faults. The same seed, length and parts make the same schedule, also with another version.
///
/// Faults are dealt like cards, so that even a short run contains every fault of every part. A deck has every possible fault of
/// each process and of the machine. It also has a simultaneous kill, freeze and restart of all instances of a service, and of all
/// processes. After each deck there is a calm period, in which no fault explains a problem.
///
/// The first half minute has a kill of each process and every fault of the machine, so that a run of one minute never lacks them.
struct Schedule: Hashable, Sendable {
    /// In the order of time.
    let faults: [Fault]

    /// The mean time between two faults, which varies from half to double.
    private static let pause = Duration.milliseconds(900)
    private static let calm = Duration.seconds(6)
    /// The minimum time without a fault after a process has recovered.
    private static let respite = Duration.milliseconds(1_500)
    /// How long to wait for a card's processes before another card is dealt first.
    private static let maxWait = Duration.seconds(4)
    /// The minimum length of a run that has freezes longer than a lease of the message log.
    private static let minWithLongFreezes = Duration.seconds(180)
    /// A lease is 30 s.
    private static let longFreezes = 31.0...40.0
    /// Some are longer than 3 s, after which the bus closes a silent connection.
    private static let freezes = 0.1...5.0
    private static let absences = 0.0...2.0
    /// The durations of other faults.
    private static let outages = 2.0...6.0
    /// Of the cards of the first deck that come first, this share is a kill or a fault of the machine.
    private static let urgentShare = 0.75

    private struct Card {
        /// The parts that have the fault.
        let parts: [Part]
        let action: Fault.Action
        let seconds: ClosedRange<Double>
        /// The parts that may have no other fault meanwhile.
        var reserved: [Part]

        init(_ parts: [Part], _ action: Fault.Action, seconds: ClosedRange<Double>, reserved: [Part] = []) {
            self.parts = parts
            self.action = action
            self.seconds = seconds
            self.reserved = parts + reserved
        }
    }

    /// - Parameter mixed: The parts that have another version. Each fault that replaces their process changes its version.
    init(seed: UInt64, length: Duration, parts: [Part], mixed: [Part] = []) {
        var random = SeededGenerator(seed: seed)
        let cards = Self.deck(of: parts, hasLongFreezes: length >= Self.minWithLongFreezes)
        var faults: [Fault] = []
        var free: [Part: Duration] = [:]
        var deck: [Card] = []
        var now = Duration.seconds(1)
        while now < length {
            if deck.isEmpty {
                deck = cards.shuffled(using: &random)
                if faults.isEmpty { deck = Self.withUrgentFirst(deck, using: &random) }
            }
            // The next card whose processes have recovered, or will soon.
            let waits = deck.map { card in card.reserved.map { (free[$0] ?? .zero) - now }.max() ?? .zero }
            let index = waits.firstIndex { $0 <= Self.maxWait } ?? waits.indices.min { waits[$0] < waits[$1] } ?? 0
            now += max(.zero, waits[index])
            let card = deck.remove(at: index)
            let seconds = Double.random(in: card.seconds, using: &random)
            if now < length {
                for part in card.parts {
                    faults.append(
                        Fault(
                            at: now, part: part, action: card.action, length: min(.seconds(seconds), length - now),
                            changesVersion: card.action.replacesProcess && mixed.contains(part)))
                }
            }
            for part in card.reserved { free[part] = now + .seconds(seconds) + Self.respite }
            now += Self.pause * Double.random(in: 0.5...1.5, using: &random)
            if deck.isEmpty { now = max(now, free.values.max() ?? now) + Self.calm }
        }
        self.faults = faults
    }

    /// Puts the kill of each process and the faults of the machine into the beginning of a deck, among some others.
    private static func withUrgentFirst(_ deck: [Card], using random: inout SeededGenerator) -> [Card] {
        func isUrgent(_ card: Card) -> Bool { card.parts.count == 1 && card.action == .kill || card.parts == [.machine] }
        let (urgent, others) = (deck.filter(isUrgent), deck.filter { !isUrgent($0) })
        let companions = Int(Double(urgent.count) * (1 / urgentShare - 1))
        return (urgent + others.prefix(companions)).shuffled(using: &random) + others.dropFirst(companions)
    }

    private static func deck(of parts: [Part], hasLongFreezes: Bool) -> [Card] {
        let processes = parts.filter { $0 != .machine }
        var cards = parts.flatMap { part in
            part.actions.map { action in
                // A power cut affects all processes, so none may have another fault.
                Card([part], action, seconds: seconds(of: action), reserved: action == .cutPower ? processes : [])
            }
        }
        for group in [Part.relays, Part.messageLogs, processes] {
            cards += Fault.Action.ofProcesses.map { Card(group, $0, seconds: seconds(of: $0)) }
        }
        if hasLongFreezes {
            cards += processes.map { Card([$0], .freeze, seconds: longFreezes) }
        }
        return cards
    }

    private static func seconds(of action: Fault.Action) -> ClosedRange<Double> {
        switch action {
        case .kill, .restart, .orphan, .replaceEarly, .cutPower: absences
        case .freeze: freezes
        case .unlinkSocket, .silenceConnections, .cutOff, .hangResolver, .fillDisk, .setClockBack, .setClockForward: outages
        }
    }
}
