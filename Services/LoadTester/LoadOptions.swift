import ArgumentParser
import FoundationEssentials
import Glibc
import Base
import Schemas

/// The rate, the duration and the content of a load.
struct LoadOptions: ParsableArguments {
    @Option(help: "Messages a second. Without it, as fast as --in-flight allows.")
    var rate: Double?

    @Option(help: "How long to send, in seconds, including the ramp.")
    var duration: Double = 10

    @Option(
        help: """
            How long the rate rises from nothing, in seconds. Messages of the ramp are not in the latencies; the plot shows theirs by \
            rate.
            """)
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
    static func make(_ path: String, for option: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw ValidationError("\(option): \(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }
}

/// The range of lengths of the message texts, in characters.
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

/// Prevents a load on another machine by mistake.
enum LoopbackRule {
    private static let hosts = ["127.0.0.1", "localhost", "::1", "[::1]"]

    /// - Throws: `ValidationError` if the text is not an address, or is the address of another machine without `--allow-remote`.
    static func check(_ address: String, isRemoteAllowed: Bool) throws {
        guard !address.hasPrefix("ipc://") else { return }
        guard let host = URL(string: address)?.host(), !host.isEmpty else {
            throw ValidationError("\(address) is no address: expected ipc://<path>, or one such as tcp://127.0.0.1:5555")
        }
        guard isRemoteAllowed || hosts.contains(host.lowercased()) else {
            throw ValidationError("\(address) is not on this machine; --allow-remote sends a load there anyway")
        }
    }
}

extension LoadOptions {
    /// The requested messages.
    var mix: MessageMix {
        MessageMix(topics: topics, alerts: alerts, text: text.range, seed: seed)
    }

    /// Sends the load to a target. Writes progress to standard error and the figures to standard output. Ctrl-C ends it early,
    /// with the figures so far.
    ///
    /// - Parameter phones: Counts at the phones after the load.
    /// - Returns: Whether a message was accepted, if any was sent, the phones have each accepted one once, and the files were written.
    func run(
        _ name: String, _ target: some LoadTarget, phones: (@Sendable () async throws -> PhoneReport)? = nil
    ) async -> Bool {
        let load = LoadRun(target: target, rate: rate, duration: duration, ramp: ramp, inFlight: inFlight) { interval in
            Self.tell(ReportTable.line(interval))
        }
        let bottlenecks = BottleneckRecorder()
        let watching = Task { await bottlenecks.watch(target) }
        let (totals, seconds) = await load.runUntilInterrupted()
        watching.cancel()
        let counted: PhoneReport?
        do {
            counted = try await phones?()
        } catch {
            Self.tell("\(error)")
            counted = nil
        }
        let isComplete = phones == nil || counted?.isComplete == true
        let report = LoadReport(name, self, totals, seconds: seconds, bottlenecks: bottlenecks.totals, phones: counted)
        print(ReportTable(report: report))
        var isWritten = true
        if let json { isWritten = write(json) { try JSONCoder.encode(report) } }
        if let svg { isWritten = write(svg) { Data(LatencyPlot(figures: PlotFigures(report)).description.utf8) } && isWritten }
        return isWritten && isComplete && (report.sent == 0 || report.accepted > 0)
    }

    /// Writes a file of the figures, which are on the terminal already. A failure is only reported.
    ///
    /// - Returns: Whether the file was written.
    private func write(_ path: String, _ content: () throws -> Data) -> Bool {
        do {
            try content().write(to: URL(filePath: path))
            return true
        } catch {
            Self.tell("\(path) cannot be written: \(error)")
            return false
        }
    }

    /// Writes a line to standard error.
    static func tell(_ line: String) {
        // A single write, so that lines of several processes do not mix.
        let text = line + "\n"
        _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
    }
}
