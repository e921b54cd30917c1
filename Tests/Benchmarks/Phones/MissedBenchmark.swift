import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport

/// Measures polls without a new message: `POST /message/since` compared with a bare route that does the same work. Then measures how
/// many phones slow posts down, by `POST /message/since` and by `POST /receipt`.
struct MissedBenchmark {
    private struct Figures: Codable {
        var benchmark = "missed"
        let archived: Int
        /// Of one request again and again, and of many different ones.
        let same: Comparison
        let different: Comparison
        /// Posts at a constant rate: without phones, while the phones fetch, and while they report.
        let alone: Latency
        let besideFetches: Latency
        let besideReports: Latency
        /// The p99 beside the phones divided by the one without.
        let fetchesRatio: Double
        let reportsRatio: Double
        /// The rounds' requests.
        let fetches: [PollingPhones.Answers]
        let reports: [PollingPhones.Answers]
    }

    private struct Comparison: Codable {
        /// The size of the bare route's answer in bytes: the median of the gateway's.
        let bytes: Int
        let gateway: Wrk.Figures
        let peer: Wrk.Figures
        let ratio: Double
    }

    private struct Round {
        let alone: Latency
        let besideFetches: Latency
        let besideReports: Latency
        let fetches: PollingPhones.Answers
        let reports: PollingPhones.Answers
    }

    /// One of this many phones has a new app.
    private static let firstFetches = 50
    /// How many messages a report names.
    private static let perReport = 3
    /// How long before the present the compared requests go on, so that an answer has about twenty messages.
    private static let comparedReach: Milliseconds = 4 * 3_600_000

    let scale: Scale
    let phones: Int
    let archived: Int
    let rounds: Int
    /// Posts a second.
    let posts: Double
    let folder: String

    private var subscriptions: Int { scale.pick(400, smoke: 4) }
    /// The time in which each phone asks once.
    private var period: Duration { scale.pick(.seconds(10), smoke: .milliseconds(500)) }
    /// The time in which the phones look at the hub by themselves: each once.
    private var looks: Duration { scale.pick(.seconds(75), smoke: .milliseconds(500)) }

    func run() async throws {
        let product = folder + "/product"
        let figures = try await MessageStack.with(database: nil, in: product) { stack in
            let archive = try await MissedArchive.make(of: archived, scale, at: stack, in: product)
            if scale == .full { try await archive.waitUntilOld(at: stack) }
            say("\(archived) messages of eight days, \(archive.subjects.count) subjects")
            let subscriptions = (0..<self.subscriptions).map { _ in archive.subscriptions() }
            let same = try await compare(stack, Array(subscriptions.prefix(1)))
            let different = try await compare(stack, subscriptions)
            let measured = try await PollingPhones.with(phones, subscriptions: subscriptions, at: stack.portal) { phones in
                var measured: [Round] = []
                for number in 1...rounds { measured.append(try await round(number, phones, archive, stack)) }
                return measured
            }
            let alone = Latency.median(measured.map(\.alone))
            let (fetches, reports) = (
                Latency.median(measured.map(\.besideFetches)), Latency.median(measured.map(\.besideReports))
            )
            return Figures(
                archived: archived, same: same, different: different, alone: alone, besideFetches: fetches,
                besideReports: reports,
                fetchesRatio: (fetches.p99 / alone.p99).twoDigits, reportsRatio: (reports.p99 / alone.p99).twoDigits,
                fetches: measured.map(\.fetches), reports: measured.map(\.reports))
        }
        show(figures)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func show(_ figures: Figures) {
        for (name, one) in [("one request", figures.same), ("\(self.subscriptions) requests", figures.different)] {
            say("POST /message/since, \(name), \(one.bytes) bytes, 64 connections: answers a second, and milliseconds")
            say(Table.row("", "rate", "p50", "p99"))
            for (name, one) in [("gateway", one.gateway), ("Hummingbird", one.peer)] {
                say(Table.row(name, "\(Int(one.rate))", "\(one.p50)", "\(one.p99)"))
            }
            say("ratio \(one.ratio)")
        }
        say(
            "\(posts) posts a second; \(phones) phones in ten seconds; milliseconds, medians of \(rounds) rounds"
        )
        say(Table.row("posts", "p50", "p99"))
        for (name, one) in [
            ("alone", figures.alone), ("beside fetches", figures.besideFetches), ("beside reports", figures.besideReports),
        ] {
            say(Table.row(name, "\(one.p50)", "\(one.p99)", first: 20))
        }
        say("p99 beside / alone: fetches \(figures.fetchesRatio), reports \(figures.reportsRatio)")
        say(Table.row("phones", "p50", "p99", "requests", "503", "unanswered", "equal", "of first fetches", "MB", first: 20))
        for (name, rounds) in [("fetches", figures.fetches), ("reports", figures.reports)] {
            for one in rounds {
                say(
                    Table.row(
                        name, "\(one.latency.p50)", "\(one.latency.p99)", "\(one.requests)", "\(one.busy)", "\(one.unanswered)",
                        "\(one.equal)",
                        "\(one.pagesOfFirstFetches)", "\((Double(one.bytes) / 1e6).twoDigits)", first: 20))
            }
        }
    }

    // MARK: Beside a bare route

    /// Compares requests in turn, one for each set of topics.
    private func compare(_ stack: MessageStack, _ subscriptions: [[String]]) async throws -> Comparison {
        let after = "\(PageCursor(before: .now - Self.comparedReach))"
        let bodies = subscriptions.map { topics -> JSONValue in
            ["topics": .array(topics.map { .string($0) }), "after": .string(after)]
        }
        var answers: [HTTPAnswer] = []
        for body in bodies {
            let answer = try await stack.portal.with(token: nil).call(.POST, "/message/since", body)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            answers.append(answer)
        }
        let typical = answers.sorted { $0.body.count < $1.body.count }[answers.count / 2]
        let texts = bodies.map { String(decoding: $0.data, as: UTF8.self) }
        let wrk = Wrk(scale: scale, folder: folder)
        return try await BareServer.serving(typical, in: folder) { peer in
            let round = try await GatewayBenchmark.compare("since", rounds: rounds) { isPeer in
                // From many addresses, as through a proxy: the limits for an address are not to be measured.
                try await wrk.run(
                    isPeer ? peer : stack.portal.port, "/message/since", method: "POST",
                    headers: ["X-Forwarded-Proto": "https"], bodies: texts, manyAddresses: true)
            }
            return Comparison(
                bytes: typical.body.count, gateway: round.gateway, peer: round.peer, ratio: round.ratio)
        }
    }

    // MARK: The phones

    /// Posts alone; then the phones look at the hub by themselves, as ever; then all of them fetch, and then report, within ten seconds
    /// each. There are posts throughout.
    private func round(
        _ number: Int, _ phones: PollingPhones, _ archive: MissedArchive, _ stack: MessageStack
    ) async throws -> Round {
        let posts = Posts(archive, stack.portal, rate: posts)
        let alone = try await posts.measure(for: period)
        try await posts.measure(for: looks) { period in
            _ = try await ConstantRate(count: phones.count, period: period).run { try await phones.fetch($0, isFirst: false) }
        }
        _ = phones.answers()
        let besideFetches = try await posts.measure(for: period) { period in
            _ = try await ConstantRate(count: phones.count, period: period).run { phone in
                try await phones.fetch(phone, isFirst: phone % Self.firstFetches == number % Self.firstFetches)
            }
        }
        let fetches = phones.answers()
        let received = posts.newest(Self.perReport)
        let besideReports = try await posts.measure(for: period) { period in
            _ = try await ConstantRate(count: phones.count, period: period).run { phone in
                try await phones.report(phone, number: number, received: received)
            }
        }
        say(
            "round \(number): p99 alone \(alone.p99), beside fetches \(besideFetches.p99), beside reports \(besideReports.p99) ms"
        )
        return Round(
            alone: alone, besideFetches: besideFetches, besideReports: besideReports, fetches: fetches, reports: phones.answers())
    }

    /// Posts to the campus's subjects at a constant rate.
    private final class Posts: Sendable {
        private let archive: MissedArchive
        private let portal: Portal
        private let rate: Double
        private let keys = Mutex<[String]>([])

        /// - Parameter rate: Posts a second.
        init(_ archive: MissedArchive, _ portal: Portal, rate: Double) {
            self.archive = archive
            self.portal = portal
            self.rate = rate
        }

        /// The keys of the last posted messages.
        func newest(_ count: Int) -> [String] { keys.withLock { $0.suffix(count) } }

        /// - Parameter beside: Runs during the measurement, for as long.
        @discardableResult
        func measure(
            for period: Duration, beside: @Sendable (Duration) async throws -> Void = { _ in }
        ) async throws -> Latency {
            async let other: Void = beside(period)
            let count = Int(rate * (period / .seconds(1)))
            let posted = try await ConstantRate(count: count, period: period).run { [archive, portal] _ in
                guard let subject = archive.subjects.randomElement() else { return "" }
                let answer = try await portal.post(subject.message())
                guard answer.status == 201, let key = try answer.json["msi_key"]?.string else { throw UnexpectedAnswer(answer) }
                return key
            }
            try await other
            keys.withLock { $0 += posted.map(\.value) }
            return Latency(posted.map(\.time))
        }
    }
}
