import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport

/// Measures what every phone asks at its start: `GET /broadcast/active` beside a bare route that returns the same bytes, and many phones
/// that start within ten seconds.
struct LaunchBenchmark {
    private struct Figures: Codable {
        var benchmark = "launch"
        /// The size of the answer in bytes.
        let bytes: Int
        let comparisons: [GatewayBenchmark.Figures.Ratio]
        /// Of each round.
        let gateway: [Launch]
        let peer: [Launch]
    }

    /// Phones that were started.
    private struct Launch: Codable {
        let latency: Latency
        /// With a body, and without one: the phone has it already.
        let full: Int
        let unchanged: Int
        /// Other answers, and none within 15 s.
        let failed: Int
    }

    /// How many channels a campus has, and how many of them a phone follows.
    private static let channels = 10
    private static let perPhone = 3
    /// The sets of channels that phones have. The bare route answers each of them with the same bytes; so does the gateway, since the
    /// broadcasts are for every phone.
    private static let sets = 100
    private static let broadcasts = 5

    let scale: Scale
    let phones: Int
    let rounds: Int
    let folder: String

    private var period: Duration { scale.pick(.seconds(10), smoke: .milliseconds(500)) }

    func run() async throws {
        let product = folder + "/product"
        let figures = try await MessageStack.with(database: nil, in: product) { stack in
            let queries = try await fill(stack.portal)
            let answer = try await stack.portal.with(token: nil).call(.GET, "/broadcast/active" + (queries.first ?? ""))
            guard answer.status == 200, let tag = answer["ETag"],
                try answer.json["broadcasts"]?.array.count == Self.broadcasts
            else { throw UnexpectedAnswer(answer) }
            return try await BareServer.serving(answer, in: folder) { peer in
                let comparisons = [
                    try await compare("200", stack.portal.port, peer, queries, headers: [:]),
                    try await compare("304", stack.portal.port, peer, queries, headers: ["If-None-Match": tag]),
                ]
                var (gatewayLaunches, peerLaunches): ([Launch], [Launch]) = ([], [])
                for _ in 0..<rounds {
                    gatewayLaunches.append(try await launch(at: stack.portal, queries, tag: tag))
                    peerLaunches.append(
                        try await launch(at: Portal(port: peer, http: stack.portal.http, token: nil), queries, tag: tag))
                }
                return Figures(
                    bytes: answer.body.count, comparisons: comparisons, gateway: gatewayLaunches, peer: peerLaunches)
            }
        }
        show(figures)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func show(_ figures: Figures) {
        GatewayBenchmark.show(figures.comparisons, of: "GET /broadcast/active, \(figures.bytes) bytes")
        say("\(phones) phones that start within ten seconds: milliseconds until each has its answer, and answers")
        say(Table.row("", "p50", "p99", "200", "304", "failed", first: 20, width: 12))
        for (name, launches) in [("gateway", figures.gateway), ("Hummingbird", figures.peer)] {
            for one in launches {
                say(
                    Table.row(
                        name, "\(one.latency.p50)", "\(one.latency.p99)", "\(one.full)", "\(one.unchanged)", "\(one.failed)",
                        first: 20, width: 12))
            }
        }
    }

    /// Makes channels and broadcasts.
    ///
    /// - Returns: The queries of phones with different sets of channels.
    private func fill(_ portal: Portal) async throws -> [String] {
        var channels: [String] = []
        for _ in 0..<Self.channels { channels.append(try await portal.makeSubject("Information").channel) }
        for number in 1...Self.broadcasts {
            let text = "The hub is down on Saturday from 6 to 8 in the morning. Messages are kept, and sent afterwards."
            let body: JSONValue = [
                "type": 1, "expiry": 1_440,
                "actiondata": [
                    "translations": [
                        "en": ["title": "Maintenance \(number)", "msg": .string(text)],
                        "de": ["title": "Wartung \(number)", "msg": .string(text)],
                    ]
                ],
            ]
            let answer = try await portal.call(.POST, "/broadcast", body)
            guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        }
        return (0..<Self.sets).map { _ in
            "?channel=" + channels.shuffled().prefix(Self.perPhone).sorted().joined(separator: ",")
        }
    }

    private func compare(
        _ name: String, _ gateway: Int, _ peer: Int, _ queries: [String], headers: [String: String]
    ) async throws -> GatewayBenchmark.Figures.Ratio {
        let wrk = Wrk(scale: scale, folder: folder)
        return try await GatewayBenchmark.compare(name, rounds: rounds) { isPeer in
            try await wrk.run(isPeer ? peer : gateway, "/broadcast/active", headers: headers, queries: queries)
        }
    }

    /// Starts all phones within ten seconds.
    private func launch(at server: Portal, _ queries: [String], tag: String) async throws -> Launch {
        let launches = try await PhoneConnections.with(at: server) { portal in
            try await ConstantRate(count: phones, period: period).run { phone in
                var headers = PhoneConnections.address(of: phone)
                if phone.isMultiple(of: 2) { headers["If-None-Match"] = tag }
                let path = "/broadcast/active" + queries[phone % queries.count]
                return try? await portal.call(.GET, path, headers: headers).status
            }
        }
        let statuses = launches.map(\.value)
        let (full, unchanged) = (statuses.count { $0 == 200 }, statuses.count { $0 == 304 })
        guard full > 0, unchanged > 0 else { throw PeerFailure(description: "no phone got an answer") }
        return Launch(
            latency: Latency(launches.map(\.time)), full: full, unchanged: unchanged, failed: phones - full - unchanged)
    }
}
