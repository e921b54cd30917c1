import AsyncHTTPClient
import FoundationEssentials
import JSON
import NIOHTTP1
import TestSupport

/// Measures `POST /message/since`: beside a bare route that does the same work, and what a herd of phones does to posts.
struct MissedBenchmark {
    private struct Figures: Codable {
        /// The answer's size in bytes.
        let bytes: Int
        let gateway: Wrk.Figures
        let peer: Wrk.Figures
        let ratio: Double
        /// Posts at a constant rate, in milliseconds: without phones, and while the herd asks.
        let usual: Latency
        let besideHerd: Latency
        /// The p99 beside the herd divided by the usual one.
        let p99Ratio: Double
        /// The herd's own requests.
        let herd: Latency
    }

    struct Latency: Codable {
        let p50: Double
        let p99: Double
    }

    private static let rounds = 5
    private static let messages = 20
    private static let herd = 10_000
    private static let posts = 1_000
    private static let period = Duration.seconds(10)
    /// How many different subscriptions the phones of the herd have.
    private static let subscriptions = 50

    let folder: String

    func run() async throws {
        let product = folder + "/product"
        try GatewayBenchmark.makePrivateFolder(product)
        let figures = try await MessageStack.with(database: nil, gateway: GatewayBenchmark.unlimited, in: product) { stack in
            var subjects: [SubjectPath] = []
            for number in 0..<10 { subjects.append(try await stack.portal.makeSubject("Information", name: "Subject \(number)")) }
            for number in 0..<Self.messages {
                let answer = try await stack.portal.post(subjects[number % subjects.count].message())
                guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
            }
            try await eventually("all messages are relayed", within: .seconds(60)) { try await stack.isArchiveAtRest() }
            let (bytes, gateway, peer, ratio) = try await compare(stack, subjects)
            let (usual, beside, herd) = try await measureHerd(stack, subjects)
            return Figures(
                bytes: bytes, gateway: gateway, peer: peer, ratio: ratio, usual: usual, besideHerd: beside,
                p99Ratio: (beside.p99 / usual.p99).twoDigits, herd: herd)
        }
        say(
            "POST /message/since with \(Self.messages) messages (\(figures.bytes) bytes), 64 connections: answers a second, and milliseconds"
        )
        say(Table.row("", "rate", "p50", "p99"))
        for (name, one) in [("gateway", figures.gateway), ("Hummingbird", figures.peer)] {
            say(Table.row(name, "\(Int(one.rate))", "\(one.p50)", "\(one.p99)"))
        }
        say("ratio \(figures.ratio)")
        say(
            "\(Self.posts) posts in ten seconds, and \(Self.herd) phones that ask meanwhile: milliseconds, medians of \(Self.rounds) rounds"
        )
        say(Table.row("", "p50", "p99"))
        for (name, one) in [("posts alone", figures.usual), ("posts beside", figures.besideHerd), ("the phones", figures.herd)] {
            say(Table.row(name, "\(one.p50)", "\(one.p99)"))
        }
        say("p99 beside / alone: \(figures.p99Ratio)")
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    // MARK: Beside a bare route

    private func compare(
        _ stack: MessageStack, _ subjects: [SubjectPath]
    ) async throws -> (bytes: Int, gateway: Wrk.Figures, peer: Wrk.Figures, ratio: Double) {
        let request = Self.request(subjects)
        let answer = try await stack.portal.with(token: nil).call(.POST, "/message/since", request)
        guard answer.status == 200, try answer.json["messages"]?.elements?.count == Self.messages else {
            throw UnexpectedAnswer(answer)
        }
        let (body, fields) = (folder + "/since.json", folder + "/since-fields.json")
        try answer.body.write(to: URL(filePath: body))
        let named = Dictionary(answer.headers.map { ($0.name, $0.value) }) { $1 }
        try JSONCoder.encode(named).write(to: URL(filePath: fields))
        let wrk = Wrk(folder: folder)
        let text = String(decoding: request.data, as: UTF8.self)
        return try await BareServer.serving(body, fields: fields, in: folder) { peer in
            var rounds: [(gateway: Wrk.Figures, peer: Wrk.Figures)] = []
            for _ in 0..<Self.rounds {
                rounds.append(
                    (
                        try await wrk.run(stack.portal.port, "/message/since", method: "POST", bodies: [text]),
                        try await wrk.run(peer, "/message/since", method: "POST", bodies: [text])
                    ))
            }
            let round = rounds.sorted { $0.gateway.rate / $0.peer.rate < $1.gateway.rate / $1.peer.rate }[Self.rounds / 2]
            return (answer.body.count, round.gateway, round.peer, (round.gateway.rate / round.peer.rate).twoDigits)
        }
    }

    private static func request(_ subjects: [SubjectPath]) -> JSONValue {
        ["topics": .array(subjects.map { "\($0.topicKey)" }.sorted().map { .string($0) })]
    }

    // MARK: The herd

    private func measureHerd(
        _ stack: MessageStack, _ subjects: [SubjectPath]
    ) async throws -> (usual: Latency, beside: Latency, herd: Latency) {
        var generator = SystemRandomNumberGenerator()
        let bodies = (0..<Self.subscriptions).map { _ in
            Self.request(Array(subjects.shuffled(using: &generator).prefix(Int.random(in: 3...8))))
        }
        let open = stack.portal.with(token: nil)
        @Sendable func ask() async throws {
            let answer = try await open.call(.POST, "/message/since", bodies.randomElement())
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        }
        @Sendable func post() async throws {
            let answer = try await stack.portal.post(subjects[0].message())
            guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        }
        var (usual, beside, herd): ([Latency], [Latency], [Latency]) = ([], [], [])
        for _ in 0..<Self.rounds {
            usual.append(try await ConstantRate(count: Self.posts, period: Self.period).measure(post))
            async let phones = ConstantRate(count: Self.herd, period: Self.period).measure(ask)
            beside.append(try await ConstantRate(count: Self.posts, period: Self.period).measure(post))
            herd.append(try await phones)
        }
        return (usual.median, beside.median, herd.median)
    }
}

extension [MissedBenchmark.Latency] {
    fileprivate var median: MissedBenchmark.Latency {
        MissedBenchmark.Latency(p50: map(\.p50).median.twoDigits, p99: map(\.p99).median.twoDigits)
    }
}

/// Requests that begin at fixed moments, whether earlier ones are answered or not: a slow answer makes no request late.
private struct ConstantRate {
    let count: Int
    let period: Duration

    /// Measures each request from the moment at which it was due.
    func measure(_ request: @escaping @Sendable () async throws -> Void) async throws -> MissedBenchmark.Latency {
        let begin = ContinuousClock.now
        let times = try await withThrowingTaskGroup(of: Double.self) { group in
            for number in 0..<count {
                let due = begin + period * (Double(number) / Double(count))
                try await Task.sleep(until: due)
                group.addTask {
                    try await request()
                    return (ContinuousClock.now - due) / .milliseconds(1)
                }
            }
            return try await group.reduce(into: [Double]()) { $0.append($1) }.sorted()
        }
        return MissedBenchmark.Latency(p50: times[count / 2], p99: times[count * 99 / 100])
    }
}
