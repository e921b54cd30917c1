@testable import Gateway
import HTTPTypes
import NIOCore
import Schemas
import ServiceKit
import TestSupport
import Testing

@Suite("Limits of requests", .timeLimit(.minutes(10)))
struct RequestLimitTests {
    private static let route = Route(.get, "/open", right: .anyone, answer: .ok(String.self)) { _ in Answer("yes") }

    private func principal(_ account: String, isOperator: Bool = false) throws -> Principal {
        try .sample(.communicator, account, isOperator: isOperator)
    }

    @Test("An account has its own limit at all addresses, by any spelling of its name; the operator's token has none")
    func accounts() throws {
        let limits = RequestLimits(perAccount: 5, perAddress: 1)
        let now = NIODeadline.now()
        for left in [4, 3, 2, 1, 0] {
            let address = IPAddress("192.0.2.\(left)")
            let fields = try limits.count(.account(principal(left == 2 ? "ANN" : "ann")), from: address, at: now)
            #expect(fields[.rateLimitPolicy] == "\"account\";q=5;w=60")
            #expect(fields[.rateLimit] == "\"account\";r=\(left);t=\((5 - left) * 12)")
        }
        let problem = try #require(throws: Problem.self) { try limits.count(.account(principal("ann")), from: nil, at: now) }
        #expect(problem.kind == .tooManyRequests && problem.headers[.retryAfter] == "12")
        #expect(throws: Never.self) { try limits.count(.account(principal("bob")), from: nil, at: now) }
        for _ in 0..<100 { #expect(try limits.count(.account(principal("ann", isOperator: true)), from: nil, at: now).isEmpty) }
    }

    @Test("The devices of a person have one limit together, which is that of the account")
    func devices() throws {
        let limits = RequestLimits(perAccount: 2, perAddress: 1)
        let now = NIODeadline.now()
        for _ in 0..<2 { _ = try limits.count(.device(.sample()), from: .loopback, at: now) }
        let problem = try #require(throws: Problem.self) { try limits.count(.device(.sample()), from: .loopback, at: now) }
        #expect(problem.kind == .tooManyRequests)
        #expect(throws: Never.self) { try limits.count(.device(.sample("bob")), from: .loopback, at: now) }
    }

    @Test("An address that invents credentials is stopped before they are checked; other addresses are not")
    func lookups() throws {
        let limits = RequestLimits(perAccount: 1, perAddress: 1)
        let now = NIODeadline.now()
        for _ in 0..<6_000 { try limits.countLookup(from: .loopback, at: now) }
        let problem = try #require(throws: Problem.self) { try limits.countLookup(from: .loopback, at: now) }
        #expect(problem.kind == .tooManyRequests && problem.headers[.retryAfter] == "1")
        #expect(throws: Never.self) { try limits.countLookup(from: IPAddress("192.0.2.1"), at: now) }
    }

    @Test("A flood of requests from one address is answered with 429 and the time to wait; other addresses are served")
    func flood() async throws {
        let access = GatewayAccess(host: .loopback, trustedProxies: [try #require(IPNetwork("127.0.0.1"))])
        try await withRouteServer([Self.route], access: access, requests: RequestLimits(perAccount: 1, perAddress: 20)) { port in
            let connection = try HeldConnection(to: port)
            func ask(_ client: String) async throws -> HTTPAnswer {
                connection.send("GET", "/open", "X-Forwarded-For: \(client)", "X-Forwarded-Proto: https")
                return try await connection.answer()
            }
            var answers: [HTTPAnswer] = []
            // One customer has many addresses.
            for number in 0..<80 { answers.append(try await ask("2001:db8:1:2::\(number)")) }
            #expect(answers.prefix(20).allSatisfy { $0.status == 200 })
            // Tokens come back during the requests.
            let refused = try #require(answers.last { $0.status == 429 })
            #expect(refused.problem == "too-many-requests", "\(refused)")
            #expect((1...4).contains(Int(refused["retry-after"] ?? "") ?? 0), "\(refused.headers)")
            #expect(refused["ratelimit"]?.hasPrefix("\"address\";r=0;t=") == true)
            #expect(refused["ratelimit-policy"] == "\"address\";q=20;w=60")
            #expect(try await ask("2001:db8:1:3::1").status == 200)
        }
    }

    @Test("A route's budget is that of all methods of its path, and leaves the other paths alone")
    func budgets() async throws {
        let reports = Route(.post, "/reports", right: .anyone, answer: .ok(String.self)) { _ in Answer("yes") }
        let others = Route(.get, "/reports", right: .anyone, answer: .ok(String.self)) { _ in Answer("yes") }
        let routes = [Self.route, others, reports.counted(as: .receipts)]
        // So few that none comes back during the test, even on a busy machine.
        try await withRouteServer(routes, requests: RequestLimits(perAccount: 1, perAddress: 4)) { port in
            let connection = try HeldConnection(to: port)
            func ask(_ method: String, _ path: String) async throws -> Int {
                connection.send(method, path, body: "")
                return try await connection.answer().status
            }
            for method in ["POST", "GET"] { #expect(try await ask(method, "/reports") == 200) }
            #expect(try await ask("POST", "/reports") == 429)
            #expect(try await ask("GET", "/reports") == 429)
            for _ in 0..<3 { #expect(try await ask("GET", "/open") == 200) }
            #expect(try await ask("GET", "/nothing") == 404)
            #expect(try await ask("GET", "/nothing") == 429)
            #expect(try await ask("GET", "/open") == 429)
        }
    }

    @Test("A request whose credential must be asked for counts for its account, and its answer says so")
    func unchecked() async throws {
        let limits = RequestLimits(perAccount: 3, perAddress: 1_000)
        try await withRouteServer([Self.route], as: principal("ann"), requests: limits) { port in
            let connection = try HeldConnection(to: port)
            func ask() async throws -> HTTPAnswer {
                connection.send("GET", "/open", "Cookie: unchecked")
                return try await connection.answer()
            }
            for left in [2, 1, 0] {
                let answer = try await ask()
                #expect(answer.status == 200 && answer["ratelimit-policy"] == "\"account\";q=3;w=60", "\(answer)")
                #expect(answer["ratelimit"]?.hasPrefix("\"account\";r=\(left);t=") == true, "\(answer)")
            }
            let refused = try await ask()
            #expect(refused.status == 429 && refused["ratelimit"]?.hasPrefix("\"account\";r=0;") == true, "\(refused)")
        }
    }

    @Test("A hundred clients that send a byte now and then (slow loris) do not hinder others, and are disconnected")
    func slowLoris() async throws {
        var timeouts = ConnectionTimeouts()
        timeouts.request = .seconds(1)
        try await withRouteServer([Self.route], timeouts: timeouts, maxPerAddress: 50) { port in
            let slow = try (0..<100).map { try HeldConnection(to: port, from: UInt8(2 + $0 / 40)) }
            for connection in slow { connection.send("GET /open HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ".utf8) }
            let drip = Task {
                while !Task.isCancelled {
                    for connection in slow { connection.send("b".utf8) }
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            defer { drip.cancel() }
            let other = try HeldConnection(to: port)
            for _ in 0..<20 {
                other.send("GET", "/open")
                #expect(try await other.answer().status == 200)
            }
            for connection in slow { #expect(try await connection.ends()) }
        }
    }

    /// Header fields that are refused.
    enum BadFields: String, CaseIterable, CustomTestStringConvertible {
        case oneTooLong, tooMany, tooLongTogether, badName, noColon

        var testDescription: String { rawValue }

        var text: String {
            switch self {
            case .oneTooLong: "X-Long: " + String(repeating: "x", count: 40_000)
            case .tooMany: String(repeating: "X-Many: 1\r\n", count: 300) + "X-Last: 1"
            case .tooLongTogether: String(repeating: "X: \(String(repeating: "x", count: 1_000))\r\n", count: 50) + "Y: 1"
            case .badName: "Bad Name: x"
            case .noColon: "No colon"
            }
        }
    }

    @Test("A head that is too large or malformed gets an answer that says so", arguments: BadFields.allCases)
    func heads(fields: BadFields) async throws {
        let isTooLarge = fields != .badName && fields != .noColon
        try await withRouteServer([Self.route]) { port in
            let connection = try HeldConnection(to: port)
            connection.send("GET", "/open")
            #expect(try await connection.answer().status == 200)
            connection.send("GET", "/open", fields.text)
            let answer = try await connection.answer()
            #expect(answer.status == (isTooLarge ? 431 : 400), "\(answer)")
            #expect(answer.problem == (isTooLarge ? "headers-too-large" : "malformed-request"))
            #expect(answer["connection"] == "close" && answer["x-content-type-options"] == "nosniff")
            #expect(try await connection.ends())
        }
    }
}

@Suite("Limits of an address")
struct AddressLimitTests {
    @Test("An IPv6 network counts as one client, and the answer says when to come back")
    func networks() throws {
        let limit = AddressLimit(perMinute: 2, "too many")
        let start = NIODeadline.now()
        func count(_ address: String) throws { try limit.count(IPAddress(address), at: start) }
        try count("2001:db8::1")
        try count("2001:db8::2")
        let problem = try #require(throws: Problem.self) { try count("2001:db8::3") }
        #expect(problem.kind == .tooManyRequests && problem.headers[.retryAfter] == "30")
        try count("2001:db8:0:1::1")
        try limit.count(IPAddress("2001:db8::3"), at: start + .seconds(30))
    }
}
