import Base
import FoundationEssentials
import NIOHTTP1
import TestSupport

/// Students who write to each other, with the real processes: `msi-load messaging`, and the FCM emulator, whose archive says when it has
/// got the push about each message.
struct MessagingBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String
    /// For the figures.
    let database: String
    /// The connection string; `nil` for SQLite.
    let url: String?
    let users: Int
    /// Messages a second.
    let rate: Double

    private var seconds: Double { scale.pick(60, smoke: 0.5) }
    private static let services = [
        "msi-fcm-emulator", "msi-fcm-relay", "msi-cube", "msi-people", "msi-message-log", "msi-messaging", "msi-gateway",
    ]
    /// How long the last push may take.
    private static let pushTimeout = Duration.seconds(120)

    private struct Figures: Encodable {
        struct Process: Encodable {
            let name: String
            /// Of processor time, of the preparation as well.
            let seconds: Double
        }

        let benchmark = "messaging"
        let database: String
        /// Messages a second that were written, fetched and confirmed.
        let rate: Double
        let failed: Int
        /// Milliseconds: from the time when a message was due until its recipient's device has confirmed it.
        let message: Latency
        /// Until it was accepted, and what a fetch takes.
        let write: Latency
        let fetch: Latency
        /// From its request until FCM has the push.
        let push: Latency
        let processes: [Process]
    }

    func run() async throws {
        let settings = ["MSI_MESSAGING_PER_MINUTE": "6000"].merging(url.map { ["MSI_DATABASE_URL": $0] } ?? [:]) { $1 }
        let product = "\(folder)/\(url == nil ? "sqlite" : "mongo")"
        let figures = try await StudentStack.with(
            Self.services, streams: users, settings: settings, in: product
        ) { stack, running in
            guard let fcm = stack.fcm else { throw PeerFailure(description: "there is no FCM") }
            return try await measure(stack, fcm, running)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: StudentStack, _ fcm: FCMServer, _ running: [ServiceProcess]) async throws -> Figures {
        say("\(Int(rate)) messages a second on \(database), with a push each")
        let files = (phones: stack.folder + "/phones", sent: stack.folder + "/sent")
        try Data(try await registerPhones(fcm).joined(separator: "\n").utf8).write(to: URL(filePath: files.phones))
        let before = try running.map { try ProcessUsage(of: $0.identifier).processorTime }
        let report = try await stack.load([
            "messaging", "--users", "\(users)", "--rate", "\(rate)", "--duration", "\(seconds)", "--phone-tokens", files.phones,
            "--sent", files.sent,
        ])
        let after = try running.map { try ProcessUsage(of: $0.identifier).processorTime }
        let pushes = try await pushTimes(fcm, sent: String(contentsOfFile: files.sent, encoding: .utf8))
        let figures = Figures(
            database: database, rate: report.figure("rate"), failed: Int(report.figure("failed")), message: report.latency,
            write: report.latency(of: "write"), fetch: report.latency(of: "fetch"), push: Latency(pushes),
            processes: zip(running, zip(before, after)).map { process, used in
                Figures.Process(name: process.name, seconds: (used.1 - used.0).twoDigits)
            })
        say(Table.row("", "a second", "failed", "p50 ms", "p99", "push p50 ms", "p99", first: 14))
        say(
            Table.row(
                database,
                [
                    "\(figures.rate)", "\(figures.failed)", "\(figures.message.p50)", "\(figures.message.p99)",
                    "\(figures.push.p50)", "\(figures.push.p99)",
                ], first: 14))
        return figures
    }

    /// - Returns: The registration tokens.
    private func registerPhones(_ fcm: FCMServer) async throws -> [String] {
        var tokens: [String] = []
        for _ in 0..<users {
            let answer = try await fcm.call(.POST, "/emulator/devices")
            guard answer.status == 201, let token = try answer.json["token"]?.string else { throw UnexpectedAnswer(answer) }
            tokens.append(token)
        }
        return tokens
    }

    /// Waits until FCM has the push about each message.
    ///
    /// - Parameter lines: The ids of the messages, and when they were sent.
    /// - Returns: How long each push took, in milliseconds.
    private func pushTimes(_ fcm: FCMServer, sent lines: String) async throws -> [Double] {
        var begun: [String: Int64] = [:]
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let time = Int64(parts[1]) { begun[String(parts[0])] = time }
        }
        return try await eventually("a push for each message", within: Self.pushTimeout, every: .seconds(1)) {
            var times: [String: Double] = [:]
            for send in try await fcm.acceptedSends() {
                guard let id = send["body"]?["message"]?["data"]?["person_id"]?.string, let start = begun[id],
                    let received = send["received_at"]?.integer
                else { continue }
                // One may come twice if a service was slow.
                times[id] = min(times[id] ?? .infinity, Double(received - start))
            }
            return times.count == begun.count ? Array(times.values) : nil
        }
    }
}

extension StudentStack {
    /// Runs the load tester at this stack.
    ///
    /// - Returns: Its report.
    func load(_ arguments: [String]) async throws -> JSONValue {
        let file = "\(folder)/load-\(UInt32.random(in: 0...UInt32.max))"
        let further = [
            "--json", file + ".json", "--url", "http://127.0.0.1:\(portal.port)", "--identity-emulator", identity.url,
        ]
        let process = try await ChildProcess(
            ServiceProcess.executables.appending(path: "msi-load"), arguments + further,
            environment: ["MSI_STATE_DIR": folder, "SWIFT_BACKTRACE": "enable=no"], logFile: file + ".log")
        let status = await process.end()
        guard status == 0 else {
            throw PeerFailure(description: "msi-load \(arguments[0]) ended with \(status): \(process.log.suffix(2_000))")
        }
        return try JSONValue(parsing: try Data(contentsOf: URL(filePath: file + ".json")))
    }
}

/// Reading the load tester's report.
extension JSONValue {
    func figure(_ name: String) -> Double { self[name]?.number.flatMap { Double($0) }?.twoDigits ?? 0 }

    /// Of all calls together.
    var latency: Latency { Latency(p50: self["latency"]?.figure("p50") ?? 0, p99: self["latency"]?.figure("p99") ?? 0) }

    /// Of the calls of a kind.
    func latency(of call: String) -> Latency {
        self["calls"]?.elements?.first { $0["name"]?.string == call }?.latency ?? Latency([])
    }
}
