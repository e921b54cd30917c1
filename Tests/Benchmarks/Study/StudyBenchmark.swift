import Base
import FoundationEssentials
import TestSupport

/// Students who study, on SQLite, with the real processes: `msi-load study` with as many users as the seed asks for, and
/// with many times as many.
struct StudyBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var loads: [Int] { scale.pick([100, 2_000], smoke: [4]) }
    private var seconds: Double { scale.pick(60, smoke: 0.5) }
    /// Between two looks of an app at the map.
    private var period: Double { scale.pick(30, smoke: 0.5) }
    private static let services = ["msi-cube", "msi-people", "msi-message-log", "msi-study", "msi-gateway"]
    /// The processes whose processor time is of interest.
    private static let watched = ["msi-gateway", "msi-study"]

    private struct Figures: Encodable {
        struct Load: Encodable {
            let name: String
            /// Calls a second.
            let rate: Double
            let failed: Int
            /// From the time when a call was due to its answer, in milliseconds.
            let p50: Double
            let p99: Double
            let longest: Double
            /// The slowest kind of call, by its 99th percentile, in milliseconds.
            let slowest: String
            let slowestP99: Double
            let processes: [Process]
        }

        struct Process: Encodable {
            let name: String
            /// Of processor time, of the preparation as well.
            let seconds: Double
            /// MiB.
            let memory: Double
        }

        let benchmark = "study"
        let loads: [Load]
    }

    func run() async throws {
        let most = loads.max() ?? 0
        let figures = try await StudentStack.with(Self.services, streams: most, in: folder + "/product") { stack, running in
            say(Table.row("students", ["calls/s", "failed", "p50", "p99", "longest", "slowest kind"], first: 14))
            var found: [Figures.Load] = []
            for users in loads { found.append(try await measure(users, stack, running)) }
            return Figures(loads: found)
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ users: Int, _ stack: StudentStack, _ running: [ServiceProcess]) async throws -> Figures.Load {
        let watched = running.filter { Self.watched.contains($0.name) }
        let before = try watched.map { try ProcessUsage(of: $0.identifier) }
        let report = try await load(users, stack)
        let after = try watched.map { try ProcessUsage(of: $0.identifier) }
        func number(_ value: JSONValue?) -> Double { value?.number.flatMap { Double($0) }?.twoDigits ?? 0 }
        let latency = report["latency"]
        let kinds = (report["calls"]?.elements ?? []).map { call in
            (name: call["name"]?.string ?? "", p99: number(call["latency"]?["p99"]))
        }
        let slowest = kinds.max { $0.p99 < $1.p99 }
        let processes = zip(watched, zip(before, after)).map { process, usage in
            Figures.Process(
                name: process.name, seconds: (usage.1.processorTime - usage.0.processorTime).twoDigits,
                memory: (Double(usage.1.resident) / 1_024).twoDigits)
        }
        let figures = Figures.Load(
            name: "\(users)", rate: number(report["rate"]), failed: Int(number(report["failed"])), p50: number(latency?["p50"]),
            p99: number(latency?["p99"]), longest: number(latency?["longest"]), slowest: slowest?.name ?? "",
            slowestP99: slowest?.p99 ?? 0, processes: processes)
        say(
            Table.row(
                figures.name,
                [
                    "\(figures.rate)", "\(figures.failed)", "\(figures.p50)", "\(figures.p99)", "\(figures.longest)",
                    "\(figures.slowest), p99 \(figures.slowestP99)",
                ], first: 14))
        return figures
    }

    /// - Returns: The report of the load tester.
    private func load(_ users: Int, _ stack: StudentStack) async throws -> JSONValue {
        let file = "\(folder)/\(users).json"
        let process = try await ChildProcess(
            ServiceProcess.executables.appending(path: "msi-load"),
            [
                "study", "--users", "\(users)", "--duration", "\(seconds)", "--period", "\(period)", "--json", file,
                "--url", "http://127.0.0.1:\(stack.portal.port)", "--identity-emulator", stack.identity.url,
            ],
            environment: ["MSI_STATE_DIR": stack.folder, "SWIFT_BACKTRACE": "enable=no"], logFile: "\(folder)/\(users).log")
        let status = await process.end()
        guard status == 0 else {
            throw PeerFailure(description: "msi-load study ended with \(status): \(process.log.suffix(2_000))")
        }
        return try JSONValue(parsing: try Data(contentsOf: URL(filePath: file)))
    }
}
