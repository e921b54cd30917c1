import SeededRandom

/// Which weather comes after which: the same for the same seed. They are dealt like cards, so that each comes as often as any
/// other, and evenly over the run.
struct Forecast: Sendable {
    private var random: SeededGenerator
    private var deck: [Weather] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next weather, and the seed by which the emulator chooses whom it happens to.
    mutating func next() -> (weather: Weather, seed: Int64) {
        if deck.isEmpty { deck = Weather.all.shuffled(using: &random) }
        return (deck.removeLast(), Int64.random(in: 0...Int64(Int32.max), using: &random))
    }
}
