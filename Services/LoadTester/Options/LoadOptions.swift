import ArgumentParser
import Glibc

/// The rate, the duration and the content of a load.
struct LoadOptions: ParsableArguments {
    @Option(help: "Messages a second. Without it, as fast as --in-flight allows.")
    var rate: Double?

    @Option(help: "How long to send, in seconds, including the ramp.")
    var duration: Double = 10

    @Option(help: "How long the rate rises from nothing, in seconds. Messages of the ramp are not in the latencies.")
    var ramp: Double = 0

    @Option(help: "The maximum number of unanswered messages.")
    var inFlight = 256

    @Option(help: "How many topics to send to.")
    var topics = 20

    @Option(help: "The percentage of alerts, which have two components each.")
    var alerts = 20

    @Option(help: "The length of a message's text in characters: one number, or a range such as 50-1000.")
    var text = TextLength(50...500)

    @Option(help: "The random seed for topics, distributions and lengths: the same seed makes the same messages.")
    var seed: UInt64 = 1

    @Option(help: "A JSON file for the figures.")
    var json: String?

    @Option(help: "An SVG file for a plot.")
    var svg: String?

    @Flag(help: "Allow another host than this machine.")
    var allowRemote = false

    func validate() throws {
        func check(_ isRight: Bool, _ rule: String) throws {
            guard isRight else { throw ValidationError(rule) }
        }
        try check(rate.map { (0.1...1_000_000).contains($0) } ?? true, "--rate: expected 0.1 to 1000000 messages a second")
        try check((0.1...86_400).contains(duration), "--duration: expected 0.1 to 86400 seconds")
        try check((0...duration).contains(ramp), "--ramp: expected 0 to the --duration in seconds")
        try check(ramp == 0 || rate != nil, "--ramp: there is nothing to ramp up without a --rate")
        try check((1...100_000).contains(inFlight), "--in-flight: expected 1 to 100000 messages")
        try check((1...10_000).contains(topics), "--topics: expected 1 to 10000")
        try check((0...100).contains(alerts), "--alerts: expected 0 to 100 of a hundred")
        for (option, path) in [("--json", json), ("--svg", svg)] {
            if let path { try Self.make(path, for: option) }
        }
    }

    /// Creates a file before the load, so that a wrong path does not lose the figures of a whole run.
    private static func make(_ path: String, for option: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw ValidationError("\(option): \(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }
}

/// The range of texts' lengths, in characters.
struct TextLength: ExpressibleByArgument, CustomStringConvertible {
    let range: ClosedRange<Int>

    init(_ range: ClosedRange<Int>) {
        self.range = range
    }

    init?(argument: String) {
        let bounds = argument.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = bounds.first, let low = first, let last = bounds.last, let high = last, bounds.count <= 2,
            (1...1_500).contains(low), (low...1_500).contains(high)
        else { return nil }
        range = low...high
    }

    var description: String { range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)" }
    var defaultValueDescription: String { description }
}
