import SeededRandom

/// What is done to whom and when: the same for the same seed, length and parts.
///
/// Faults are dealt like cards, so that even a short run does everything to everybody: a deck has, for each process and for the
/// machine, everything that can be done to it; and for the processes that there are several of, and for all processes together, a
/// kill, a freeze and a restart at the same moment. After each deck there is calm for a while, in which nothing excuses anything.
struct Schedule: Hashable, Sendable {
    /// In order of time.
    let faults: [Fault]

    /// The time between two faults, half or double at times.
    private static let pause = Duration.milliseconds(900)
    private static let calm = Duration.seconds(6)
    /// How long a process that has come back is left alone.
    private static let respite = Duration.milliseconds(1_500)
    /// How long a card's processes are waited for before another card comes first.
    private static let maxWait = Duration.seconds(4)
    /// A run of this length has freezes that are longer than a lease of the message log.
    private static let minWithLongFreezes = Duration.seconds(180)
    /// A lease is 30 s.
    private static let longFreezes = 31.0...40.0
    /// Longer than it takes the bus to give a silent connection up, which is 3 s.
    private static let freezes = 0.1...5.0
    private static let absences = 0.0...2.0
    /// For what is in force for a while.
    private static let outages = 2.0...6.0

    private struct Card {
        /// What it is done to.
        let parts: [Part]
        let deed: Fault.Deed
        let seconds: ClosedRange<Double>
        /// What nothing else may happen to meanwhile.
        var reserved: [Part]

        init(_ parts: [Part], _ deed: Fault.Deed, seconds: ClosedRange<Double>, reserved: [Part] = []) {
            self.parts = parts
            self.deed = deed
            self.seconds = seconds
            self.reserved = parts + reserved
        }
    }

    init(seed: UInt64, length: Duration, parts: [Part]) {
        var random = SeededGenerator(seed: seed)
        let cards = Self.deck(of: parts, hasLongFreezes: length >= Self.minWithLongFreezes)
        var faults: [Fault] = []
        var free: [Part: Duration] = [:]
        var deck: [Card] = []
        var now = Duration.seconds(1)
        while now < length {
            if deck.isEmpty { deck = cards.shuffled(using: &random) }
            // The next card whose processes are well, or will be soon.
            let waits = deck.map { card in card.reserved.map { (free[$0] ?? .zero) - now }.max() ?? .zero }
            let index = waits.firstIndex { $0 <= Self.maxWait } ?? waits.indices.min { waits[$0] < waits[$1] } ?? 0
            now += max(.zero, waits[index])
            let card = deck.remove(at: index)
            let seconds = Double.random(in: card.seconds, using: &random)
            if now < length {
                for part in card.parts {
                    faults.append(Fault(at: now, part: part, deed: card.deed, length: min(.seconds(seconds), length - now)))
                }
            }
            for part in card.reserved { free[part] = now + .seconds(seconds) + Self.respite }
            now += Self.pause * Double.random(in: 0.5...1.5, using: &random)
            if deck.isEmpty { now = max(now, free.values.max() ?? now) + Self.calm }
        }
        self.faults = faults
    }

    private static func deck(of parts: [Part], hasLongFreezes: Bool) -> [Card] {
        let processes = parts.filter { $0 != .machine }
        var cards = parts.flatMap { part in
            part.deeds.map { deed in
                // The power goes for all, so that nothing else may be done to any.
                Card([part], deed, seconds: seconds(of: deed), reserved: deed == .cutPower ? processes : [])
            }
        }
        for group in [Part.relays, Part.messageLogs, processes] {
            cards += Fault.Deed.ofProcesses.map { Card(group, $0, seconds: seconds(of: $0)) }
        }
        if hasLongFreezes {
            cards += processes.map { Card([$0], .freeze, seconds: longFreezes) }
        }
        return cards
    }

    private static func seconds(of deed: Fault.Deed) -> ClosedRange<Double> {
        switch deed {
        case .kill, .restart, .orphan, .replaceEarly, .cutPower: absences
        case .freeze: freezes
        case .unlinkSocket, .silenceConnections, .cutOff, .hangResolver, .fillDisk, .setClockBack, .setClockForward: outages
        }
    }
}
