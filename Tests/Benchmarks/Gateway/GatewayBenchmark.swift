import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport

/// Measures the gateway's answers beside a bare Hummingbird server that answers with the same bytes, alternately in the same run.
struct GatewayBenchmark {
    /// The figures for the line of JSON.
    struct Figures: Codable {
        /// One comparison; the rates are medians.
        struct Ratio: Codable {
            let name: String
            let gateway: Wrk.Figures
            let peer: Wrk.Figures
            /// The gateway's rate divided by the peer's.
            let ratio: Double
        }

        var benchmark = "gateway"
        var comparisons: [Ratio] = []
        var posts: [String: Wrk.Figures] = [:]
    }

    let scale: Scale
    /// The folder for the product's data.
    let folder: String
    /// The folder with the executables of a version without sign-ins, for the comparison of posts; `nil` to leave it out.
    let baseline: String?

    private var subjects: Int { scale.pick(1_000, smoke: 20) }
    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var accounts: Int { scale.pick(40, smoke: 1) }

    func run() async throws {
        let stackFolder = folder + "/product"
        let figures = try await MessageStack.with(database: nil, in: stackFolder) { stack in
            var figures = Figures()
            figures.comparisons = try await compareReads(of: stack)
            Self.show(figures.comparisons, of: "GET /channel with \(subjects) subjects")
            figures.posts = try await withBaseline { try await measurePosts(at: stack, beside: $0) }
            show(figures.posts)
            return figures
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    /// - Parameter requests: What was asked.
    static func show(_ comparisons: [Figures.Ratio], of requests: String) {
        say("\(requests), 64 connections: answers a second, and milliseconds")
        say(Table.row("", "gateway", "p50", "p99", "Hummingbird", "p50", "p99", "ratio", first: 20, width: 12))
        for one in comparisons {
            say(
                Table.row(
                    one.name, "\(Int(one.gateway.rate))", "\(one.gateway.p50)", "\(one.gateway.p99)", "\(Int(one.peer.rate))",
                    "\(one.peer.p50)", "\(one.peer.p99)", "\(one.ratio)", first: 20, width: 12))
        }
    }

    private func show(_ posts: [String: Wrk.Figures]) {
        say("POST /message, 64 connections: answers a second, and milliseconds")
        say(Table.row("", "rate", "p50", "p99", first: 44))
        for (name, post) in posts.sorted(by: { $0.key < $1.key }) {
            say(Table.row(name, "\(Int(post.rate))", "\(post.p50)", "\(post.p99)", first: 44))
        }
    }

    // MARK: Reads

    private func compareReads(of stack: MessageStack) async throws -> [Figures.Ratio] {
        let channel = try await stack.portal.makeChannel(subjects: subjects)
        let open = stack.portal.with(token: nil)
        let answer = try await open.call(.GET, "/channel")
        guard answer.status == 200, let tag = answer["ETag"] else { throw UnexpectedAnswer(answer) }
        say("\(channel) with \(subjects) subjects: \(answer.body.count) bytes")
        let wrk = Wrk(scale: scale, folder: folder)
        return try await BareServer.serving(answer, in: folder) { peer in
            [
                try await compare("200", wrk, stack.portal.port, peer, headers: [:]),
                try await compare("304", wrk, stack.portal.port, peer, headers: ["If-None-Match": tag]),
            ]
        }
    }

    private func compare(
        _ name: String, _ wrk: Wrk, _ gateway: Int, _ peer: Int, headers: [String: String]
    ) async throws -> Figures.Ratio {
        try await Self.compare(name, rounds: rounds) { try await wrk.run($0 ? peer : gateway, "/channel", headers: headers) }
    }

    /// Compares the gateway with its peer in turn.
    ///
    /// - Parameter measure: Gets whether the peer is measured.
    /// - Returns: The round with the median ratio.
    static func compare(
        _ name: String, rounds: Int, _ measure: (_ isPeer: Bool) async throws -> Wrk.Figures
    ) async throws -> Figures.Ratio {
        var figures: [(gateway: Wrk.Figures, peer: Wrk.Figures)] = []
        for _ in 0..<rounds { figures.append((try await measure(false), try await measure(true))) }
        let round = figures.sorted { $0.gateway.rate / $0.peer.rate < $1.gateway.rate / $1.peer.rate }[rounds / 2]
        return Figures.Ratio(
            name: name, gateway: round.gateway, peer: round.peer, ratio: (round.gateway.rate / round.peer.rate).twoDigits)
    }

    // MARK: Posts

    /// Runs a body with the version without sign-ins, if there is one.
    private func withBaseline<Value>(_ body: (MessageStack?) async throws -> Value) async throws -> Value {
        guard let baseline else { return try await body(nil) }
        let state = folder + "/baseline"
        return try await MessageStack.with(
            database: nil, gateway: [:], executables: URL(filePath: baseline), in: state, body)
    }

    private func measurePosts(at stack: MessageStack, beside baseline: MessageStack?) async throws -> [String: Wrk.Figures] {
        let wrk = Wrk(scale: scale, folder: folder)
        let sender = try await BenchmarkAccount.make("sender", at: stack.portal)
        let target = try await PostTarget(at: stack.portal, headers: ["Cookie": sender.cookie, "Origin": stack.origin])
        let operatorTarget = target.with(["Authorization": "Bearer \(stack.portal.token ?? "")"])
        var old: PostTarget?
        if let baseline { old = try await PostTarget(at: baseline.portal.with(token: nil), headers: [:]) }
        var rates: [String: [Wrk.Figures]] = [:]
        for _ in 0..<rounds {
            if let old { rates["without authentication (baseline)", default: []].append(try await old.measure(wrk)) }
            rates["with a sign-in", default: []].append(try await target.measure(wrk))
            rates["with the operator's token", default: []].append(try await operatorTarget.measure(wrk))
        }
        let beside = try await measureBesideSignIns(stack, target, wrk)
        return rates.mapValues(\.medianByRate).merging(beside) { $1 }
    }

    /// Measures posts while other clients sign in.
    private func measureBesideSignIns(
        _ stack: MessageStack, _ target: PostTarget, _ wrk: Wrk
    ) async throws -> [String: Wrk.Figures] {
        // Of many accounts, from many addresses, so that none is refused because of its number of attempts.
        var bodies: [String] = []
        for number in 0..<accounts {
            bodies.append(try await BenchmarkAccount.make("other-\(number)", at: stack.portal).signIn)
        }
        let signIns = Wrk(scale: scale, folder: folder, clients: 8)
        var rounds: [(posts: Wrk.Figures, signIns: Wrk.Figures)] = []
        for _ in 0..<self.rounds {
            async let attempts = signIns.run(
                stack.portal.port, "/session", method: "POST",
                headers: ["Origin": stack.origin.replacing("http:", with: "https:"), "X-Forwarded-Proto": "https"],
                bodies: bodies, manyAddresses: true, fails: false)
            let posts = try await target.measure(wrk)
            rounds.append((posts, try await attempts))
        }
        return [
            "with a sign-in, while others sign in": rounds.map(\.posts).medianByRate,
            "sign-ins, meanwhile": rounds.map(\.signIns).medianByRate,
        ]
    }
}

extension [Wrk.Figures] {
    /// The run with the median rate.
    var medianByRate: Wrk.Figures {
        sorted { $0.rate < $1.rate }[count / 2]
    }
}
