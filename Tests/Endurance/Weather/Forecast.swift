import SeededRandom

/// The sequence of weathers. The same seed makes the same sequence. They are dealt like cards, so that all come equally often and
/// evenly over the run.
struct Forecast: Sendable {
    private var random: SeededGenerator
    private var deck: [Weather] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next weather, and the emulator's seed for the choice of requests.
    mutating func next() -> (weather: Weather, seed: Int64) {
        if deck.isEmpty { deck = Weather.all.shuffled(using: &random) }
        return (deck.removeLast(), Int64.random(in: 0...Int64(Int32.max), using: &random))
    }
}
