import SeededRandom

/// Which weather comes after which: the same for the same seed. They are dealt like cards, so that each comes as often as any
/// other, and evenly over the run.
struct Forecast: Sendable {
    private var random: SeededGenerator
    private var deck: [Weather] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func next() -> Weather {
        if deck.isEmpty { deck = Weather.all.shuffled(using: &random) }
        return deck.removeLast()
    }
}
