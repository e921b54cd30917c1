import FoundationEssentials
import NIOCore
import NIOHTTP1
import TestSupport

/// The load generator wrk. Its requests come from a script in a file, so that no credential is an argument. In a smoke run, wrk may not
/// be installed, and each different request is sent once without it.
struct Wrk {
    /// The outcome of a run.
    struct Figures: Codable {
        /// Answers a second.
        let rate: Double
        /// Milliseconds.
        let p50: Double
        let p99: Double
    }

    let scale: Scale
    /// The folder for the scripts.
    let folder: String
    var clients = 64
    var seconds = 4

    /// Measures requests to a path of a server.
    ///
    /// - Parameters:
    ///   - path: The first request's path.
    ///   - queries: What is added to the path, in turn.
    ///   - bodies: The bodies of the requests, in turn.
    ///   - manyAddresses: Whether each request names another client address in `X-Forwarded-For`.
    ///   - fails: Whether answers with a status from 400 on are wrong.
    /// - Throws: ``PeerFailure`` if an answer is wrong.
    func run(
        _ port: Int, _ path: String, method: String = "GET", headers: [String: String] = [:], queries: [String] = [],
        bodies: [String] = [], manyAddresses: Bool = false, fails: Bool = true
    ) async throws -> Figures {
        guard scale == .full else {
            return try await Self.sendOnce(port, path, method, headers, queries, bodies, fails: fails)
        }
        var script = "wrk.method = \(Self.quoted(method))\n"
        for (name, value) in headers { script += "wrk.headers[\(Self.quoted(name))] = \(Self.quoted(value))\n" }
        if let body = bodies.first { script += "wrk.body = \(Self.quoted(body))\n" }
        if bodies.count > 1 || !queries.isEmpty || manyAddresses {
            script += Self.changes(path, queries.isEmpty ? [""] : queries, bodies, manyAddresses)
        }
        let file = "\(folder)/wrk-\(UInt32.random(in: 0...UInt32.max)).lua"
        try Data(script.utf8).write(to: URL(filePath: file))
        let output = try await Peer(path: "/usr/bin/wrk").output([
            "--threads", "1", "--connections", "\(clients)", "--duration", "\(seconds)s", "--timeout", "10s", "--latency",
            "--script", file, "http://127.0.0.1:\(port)\(path)",
        ])
        try FileManager.default.removeItem(atPath: file)
        guard let rate = output.firstMatch(of: /Requests\/sec: +([0-9.]+)/).flatMap({ Double($0.1) }),
            let p50 = Self.milliseconds("50%", in: output), let p99 = Self.milliseconds("99%", in: output)
        else { throw PeerFailure(description: "wrk printed: \(output)") }
        guard !output.contains("Socket errors"), !fails || !output.contains("Non-2xx") else {
            throw PeerFailure(description: "wrk got wrong answers: \(output)")
        }
        return Figures(rate: rate.rounded(), p50: p50.twoDigits, p99: p99.twoDigits)
    }

    private static func sendOnce(
        _ port: Int, _ path: String, _ method: String, _ headers: [String: String], _ queries: [String], _ bodies: [String],
        fails: Bool
    ) async throws -> Figures {
        try await withHTTPClient { http in
            let begin = ContinuousClock.now
            var times: [Double] = []
            for number in 0..<max(1, queries.count, bodies.count) {
                let url = "http://127.0.0.1:\(port)\(path)" + (queries.isEmpty ? "" : queries[number % queries.count])
                let body = bodies.isEmpty ? nil : Data(bodies[number % bodies.count].utf8)
                let sent = ContinuousClock.now
                let answer = try await http.answer(
                    HTTPMethod(rawValue: method), url, headers: headers, body: body, within: .seconds(60))
                guard !fails || answer.status < 400 else { throw UnexpectedAnswer(answer) }
                times.append((ContinuousClock.now - sent) / .milliseconds(1))
            }
            let latency = Latency(times)
            return Figures(
                rate: Double(times.count) / ((ContinuousClock.now - begin) / .seconds(1)), p50: latency.p50, p99: latency.p99)
        }
    }

    /// A part of the script that changes each request.
    private static func changes(_ path: String, _ queries: [String], _ bodies: [String], _ manyAddresses: Bool) -> String {
        """
        local paths = {\(queries.map { quoted(path + $0) }.joined(separator: ", "))}
        local bodies = {\(bodies.map(quoted).joined(separator: ", "))}
        local number = math.random(0, 60000)
        function request()
            number = number + 1
            \(manyAddresses
                ? #"wrk.headers["X-Forwarded-For"] = "10." .. number % 250 .. "." .. math.floor(number / 250) % 250 .. ".1""# : "")
            return wrk.format(nil, paths[number % #paths + 1], nil, bodies[number % #bodies + 1])
        end

        """
    }

    /// A string of Lua.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }

    /// A latency, such as `50%  1.23ms`.
    private static func milliseconds(_ share: String, in output: String) -> Double? {
        for line in output.split(separator: "\n") where line.contains(share) {
            guard let match = line.firstMatch(of: /([0-9.]+)(us|ms|s) *$/), let value = Double(match.1) else { continue }
            return value * (match.2 == "us" ? 0.001 : match.2 == "ms" ? 1 : 1_000)
        }
        return nil
    }
}
