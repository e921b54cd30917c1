import FoundationEssentials
import Base
import TestSupport

/// Measures how fast messages reach ten thousand phones that are subscribed to one topic, each with the students' app, while the
/// product, FCM's emulator and the phones share this machine.
struct FleetBenchmark {
    private struct Figures: Codable {
        var benchmark = "fleet"
        let phones: Int
        /// Until every phone had registered, subscribed and fetched what it had missed, in seconds.
        let setUp: Double
        /// Messages one after another.
        let singles: Times
        /// Messages a second of a burst, from the first post until the last phone has the last message.
        let burstRate: Double
        /// The highest rate, in messages a second, at which the delay of the last phone did not grow.
        let rate: Double
        /// The lowest rate at which it grew; absent if it grew at none.
        let exceededRate: Double?
        /// For how long messages were posted at each rate, in seconds.
        let seconds: Double
        /// Messages at ``rate``.
        let sustained: Times
        /// The processor time of a message with its deliveries at ``rate``, in milliseconds, by process.
        let processorTime: [String: Double]
    }

    /// From a message's `timestamp` until it is in a phone's list, in milliseconds.
    private struct Times: Codable {
        let p50: Double
        let p99: Double
        /// The median of the times until the last phone had a message.
        let lastPhone: Double
        /// The longest one.
        let longest: Double

        init(_ count: FleetCount, _ delays: [Double]) {
            p50 = count.p50 ?? 0
            p99 = count.p99 ?? 0
            lastPhone = delays.median
            longest = delays.max() ?? 0
        }
    }

    /// A rate of posts, and the outcome of the messages.
    private struct Trial {
        let rate: Double
        let delays: [Double]
        let usage: [String: Double]
        /// Whether the delay of the last phone did not grow. A smoke run does not judge it.
        let isKept: Bool
    }

    /// A search may end at a rate that is not kept a second time.
    private static let retreat = 0.9
    private static let maxRetreats = 3

    let scale: Scale
    let phones: Int
    /// For how long messages are posted at each rate.
    let seconds: Double
    /// The folder for the product's data.
    let folder: String

    private var singleCount: Int { scale.pick(6, smoke: 2) }
    private var burstCount: Int { scale.pick(10, smoke: 3) }

    func run() async throws {
        let product = folder + "/product"
        let figures = try await MessageStack.with(
            // The emulator delivers at once, so no data has to wait for pop-ups.
            database: nil, messageLog: ["MSI_FCM_FANOUT_RATE": "0"], in: product
        ) { stack in
            try await measure(stack, product)
        }
        show(figures)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: MessageStack, _ folder: String) async throws -> Figures {
        let subject = try await stack.portal.makeSubject("Alert", level: "Forced")
        let (setUp, count, delays) = try await FleetProcess.with(phones, at: stack, in: folder) { fleet in
            try await singles(subject, stack, fleet)
        }
        say("alone: until the last phone has a message \(delays.median) ms")
        let (_, _, (burst, found)) = try await FleetProcess.with(phones, at: stack, in: folder) { fleet in
            let burst = try await burstRate(subject, stack, fleet)
            return (burst, try await search(from: burst, subject, stack, fleet))
        }
        let (trial, sustained) = try await sustain(found.kept, subject, stack, folder)
        return Figures(
            phones: phones, setUp: setUp, singles: Times(count, delays), burstRate: burst.twoDigits, rate: trial.rate.twoDigits,
            exceededRate: found.exceeded.isFinite ? found.exceeded.twoDigits : nil, seconds: seconds,
            sustained: Times(sustained, trial.delays), processorTime: trial.usage)
    }

    private func show(_ figures: Figures) {
        say("\(figures.phones) phones on one topic, set up in \(figures.setUp) s: milliseconds from the post")
        say(Table.row("", "p50", "p99", "last phone", "longest"))
        for (name, times) in [("alone", figures.singles), ("\(figures.rate)/s", figures.sustained)] {
            say(Table.row(name, "\(times.p50)", "\(times.p99)", "\(times.lastPhone)", "\(times.longest)"))
        }
        say(
            "\(figures.rate) messages a second for \(figures.seconds) s without a growing delay; it grew at "
                + "\(figures.exceededRate.map { "\($0)" } ?? "none of those tried"); a burst of \(burstCount): \(figures.burstRate)"
        )
        say("Milliseconds of processor time for a message and its \(phones * 2) deliveries")
        for (name, time) in figures.processorTime.sorted(by: { $0.value > $1.value }) {
            say(Table.row(name, "\(time)", first: 20))
        }
    }

    /// - Returns: The message's key.
    private func post(to subject: SubjectPath, at portal: Portal) async throws -> String {
        let answer = try await portal.post(subject.message())
        guard answer.status == 201, let key = try answer.json["msi_key"]?.string else { throw UnexpectedAnswer(answer) }
        return key
    }

    /// - Returns: The delays of the last phone.
    private func singles(_ subject: SubjectPath, _ stack: MessageStack, _ fleet: FleetProcess) async throws -> [Double] {
        var delays: [Double] = []
        for _ in 1...singleCount {
            delays += try await fleet.delays(of: [try await post(to: subject, at: stack.portal)])
        }
        return delays
    }

    private func burstRate(_ subject: SubjectPath, _ stack: MessageStack, _ fleet: FleetProcess) async throws -> Double {
        let begin = ContinuousClock.now
        var keys: [String] = []
        for _ in 0..<burstCount { keys.append(try await post(to: subject, at: stack.portal)) }
        _ = try await fleet.delays(of: keys)
        return Double(burstCount) / ((ContinuousClock.now - begin) / .seconds(1))
    }

    private func search(
        from burst: Double, _ subject: SubjectPath, _ stack: MessageStack, _ fleet: FleetProcess
    ) async throws -> RateSearch {
        var search = RateSearch(from: burst, maxAttempts: scale.pick(8, smoke: 1))
        while let rate = search.next {
            let trial = try await post(at: rate, subject, stack, fleet)
            search.note(rate, isKept: trial.isKept)
        }
        guard search.kept > 0 else { throw PeerFailure(description: "the delay grows at every rate") }
        return search
    }

    /// Posts at the rate of the search to a new fleet, whose report is then about this rate alone; at a lower one if it is not kept.
    private func sustain(
        _ rate: Double, _ subject: SubjectPath, _ stack: MessageStack, _ folder: String
    ) async throws -> (Trial, FleetCount) {
        var rate = rate
        for _ in 0...Self.maxRetreats {
            let (_, count, trial) = try await FleetProcess.with(phones, at: stack, in: folder) { fleet in
                try await post(at: rate, subject, stack, fleet)
            }
            if trial.isKept { return (trial, count) }
            rate *= Self.retreat
        }
        throw PeerFailure(description: "the delay grows also at \(rate.twoDigits) messages a second")
    }

    private func post(
        at rate: Double, _ subject: SubjectPath, _ stack: MessageStack, _ fleet: FleetProcess
    ) async throws -> Trial {
        let count = max(singleCount, Int((rate * seconds).rounded()))
        let before = try Usage(of: stack, fleet)
        let keys = try await ConstantRate(count: count, period: .seconds(Double(count) / rate)).run { _ in
            try await post(to: subject, at: stack.portal)
        }.map(\.value)
        let delays = try await fleet.delays(of: keys)
        let trial = Trial(
            rate: rate, delays: delays, usage: try Usage(of: stack, fleet).since(before, messages: count),
            isKept: scale == .smoke || RateSearch.isKept(delays, rate: rate))
        say(
            "\(rate.twoDigits) messages/s: the last phone's delay \(trial.isKept ? "stays" : "grows"), median \(delays.median) ms"
        )
        return trial
    }
}

/// The processor time of a stack and a fleet.
private struct Usage {
    private let seconds: [String: Double]

    init(of stack: MessageStack, _ fleet: FleetProcess) throws {
        var seconds = ["msi-phone fleet": try ProcessUsage(of: fleet.identifier).processorTime]
        for (name, identifier) in stack.processes { seconds[name] = try ProcessUsage(of: identifier).processorTime }
        self.seconds = seconds
    }

    /// Milliseconds for a message, by process.
    func since(_ before: Usage, messages: Int) -> [String: Double] {
        seconds.reduce(into: [:]) {
            $0[$1.key] = (($1.value - before.seconds[$1.key, default: 0]) * 1_000 / Double(messages)).twoDigits
        }
    }
}
