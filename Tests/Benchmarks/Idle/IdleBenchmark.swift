import AsyncHTTPClient
import FoundationEssentials
import Glibc
import Base
import NIOCore
import NIOHTTP1
import ServiceKit
import TestSupport

/// What each service costs while nothing happens: the time of its start, its memory, and its processor time in a minute. All services run
/// together, on SQLite.
struct IdleBenchmark {
    let scale: Scale
    let folder: String
    /// The seconds that the processor time is measured for.
    let seconds: Double

    /// The state directory.
    private var state: String { folder + "/state" }

    /// The first start of each makes its files, and does not count.
    private var starts: Int { scale.pick(9, smoke: 1) }
    /// After the start, memory is given back, and connections are made.
    private var settling: Duration { scale.pick(.seconds(15), smoke: .zero) }
    /// The goal for the memory of an installation in MiB: 150 MB.
    private static let maxMemory = 143.0
    /// Prometheus's usual interval.
    private static let scrapeInterval = Duration.seconds(15)

    private struct Row: Encodable {
        let name: String
        /// Milliseconds, the median, and the slowest.
        let start: Double
        let slowestStart: Double
        /// MiB.
        let privateMemory: Double
        let sharedMemory: Double
        let proportional: Double
        /// The percentage of one processor, without a port for metrics, and with one that is read every 15 s.
        let processor: Double
        let processorWithMetrics: Double?
        /// A second.
        let wakeUps: Double
    }

    /// The memory of the services of an installation, without the emulators, in MiB: each one's share, and the sum.
    private struct Installation: Encodable {
        let services: [String: Double]
        let proportional: Double
    }

    private struct Figures: Encodable {
        let benchmark = "idle"
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let load: Double
        let rows: [Row]
        let installation: Installation
    }

    func run() async throws {
        var load = [0.0]
        getloadavg(&load, 1)
        say(
            "each service idle, all on this machine with \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores; the load before was \(load[0].twoDigits)"
        )
        guard mkdir(state, 0o700) == 0 else { throw PeerFailure(description: "\(state) cannot be made") }
        let socket = try ReadinessSocket(folder + "/notify")
        defer { socket.close() }
        var starts: [String: [Double]] = [:]
        let (peers, running) = try await startAll(socket, &starts)
        let plain = try await costs(of: running + peers)
        for process in peers + running where !Self.isInstalled(process) { await process.process.stop() }
        let installation = try Self.installation(of: running.filter(Self.isInstalled))
        for process in running.reversed() where Self.isInstalled(process) { await process.process.stop() }
        let withMetrics = try await metricsCosts(socket)
        let rows = (running + peers).map { process in
            let (cost, used) = (plain.costs[process.name], plain.used[process.name])
            let times = starts[process.name] ?? [process.start]
            return Row(
                name: process.name, start: times.median.twoDigits, slowestStart: (times.max() ?? 0).twoDigits,
                privateMemory: (cost?.privateMemory ?? 0).twoDigits, sharedMemory: (cost?.sharedMemory ?? 0).twoDigits,
                proportional: (cost?.proportional ?? 0).twoDigits, processor: used?.percent ?? 0,
                processorWithMetrics: withMetrics[process.name]?.percent, wakeUps: (used?.wakeUps ?? 0).twoDigits)
        }
        printTable(rows)
        say(
            "the services of an installation together, without the emulator: \(installation.proportional) MiB (PSS); the goal is at most \(Self.maxMemory)"
        )
        let figures = Figures(load: load[0], rows: rows, installation: installation)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func printTable(_ rows: [Row]) {
        say(
            Table.row(
                "", ["start ms", "slowest ms", "private MiB", "shared MiB", "PSS MiB", "CPU %", "with metrics", "wake-ups/s"],
                first: 24))
        for row in rows {
            say(
                Table.row(
                    row.name,
                    [
                        "\(row.start)", "\(row.slowestStart)", "\(row.privateMemory)", "\(row.sharedMemory)",
                        "\(row.proportional)",
                        "\(row.processor)", row.processorWithMetrics.map { "\($0)" } ?? "", "\(row.wakeUps)",
                    ], first: 24))
        }
    }

    // MARK: Starts

    /// The services in their order, each started several times, and then the peers.
    private func startAll(
        _ socket: ReadinessSocket, _ starts: inout [String: [Double]]
    ) async throws -> (peers: [IdleProcess], running: [IdleProcess]) {
        var running: [IdleProcess] = []
        let port = try LoopbackPort.free()
        for service in ServiceEntry.all {
            try await prepare(service)
            for number in 0...self.starts {
                let process = try await start(service, socket, emulatorPort: port)
                if number > 0 { starts[service.executable, default: []].append(process.start) }
                if number == self.starts {
                    running.append(process)
                } else {
                    await process.process.stop()
                }
            }
        }
        var peers: [IdleProcess] = []
        for peer in [bareServer, prometheus] {
            for number in 0..<self.starts {
                guard let process = try await peer() else { break }
                starts[process.name, default: []].append(process.start)
                if number == self.starts - 1 {
                    peers.append(process)
                } else {
                    await process.process.stop()
                }
            }
        }
        return (peers, running)
    }

    /// The gateway needs no account, and the people service makes none.
    private func prepare(_ service: ServiceEntry) async throws {
        guard service == .people else { return }
        try await TestOperator.prepare(state)
    }

    private func start(
        _ service: ServiceEntry, _ socket: ReadinessSocket, emulatorPort: Int, metricsPort: Int? = nil
    ) async throws -> IdleProcess {
        var settings = EmulatorAccess(port: emulatorPort, stateDirectory: state).settings
        settings["MSI_STATE_DIR"] = state
        settings["MSI_FCM_EMULATOR_PORT"] = "\(emulatorPort)"
        settings["MSI_IDENTITY_EMULATOR_PORT"] = "0"
        settings["MSI_GATEWAY_PORT"] = "0"
        settings["MSI_SUPERVISED"] = "true"
        settings["NOTIFY_SOCKET"] = socket.path
        settings["SWIFT_BACKTRACE"] = "enable=no"
        if let metricsPort { settings["MSI_METRICS_PORT"] = "\(metricsPort)" }
        let executable = try BuiltProduct.path(of: service.executable)
        return try await IdleProcess(service.executable, executable, settings: settings, in: folder) { process in
            try socket.waitForReadiness(log: process.log)
        }
    }

    // MARK: Peers

    /// A bare Hummingbird server with one route, in the process of these benchmarks' executable.
    private func bareServer() async throws -> IdleProcess? {
        let (body, fields) = (folder + "/peer.json", folder + "/peer-fields.json")
        try Data("{}".utf8).write(to: URL(filePath: body))
        try Data("{}".utf8).write(to: URL(filePath: fields))
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path(percentEncoded: false)
        return try await IdleProcess(
            "bare Hummingbird", own, ["http-server", body, fields], settings: [:], in: folder
        ) { process in
            try wait { process.log.contains("\n") }
        }
    }

    /// Prometheus with an empty database and nothing to read, if it is installed.
    private func prometheus() async throws -> IdleProcess? {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/prometheus") else { return nil }
        let configuration = folder + "/prometheus.yml"
        try Data("scrape_configs: []\n".utf8).write(to: URL(filePath: configuration))
        let port = try LoopbackPort.free()
        return try await IdleProcess(
            "prometheus", "/usr/bin/prometheus",
            [
                "--config.file=\(configuration)", "--storage.tsdb.path=\(folder)/prometheus",
                "--web.listen-address=127.0.0.1:\(port)",
            ], settings: [:], in: folder
        ) { process in
            try wait { process.log.contains("Server is ready to receive web requests") }
        }
    }

    /// Looks every millisecond.
    private func wait(_ isReady: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isReady() {
            guard ContinuousClock.now < deadline else { throw PeerFailure(description: "a peer does not become ready") }
            usleep(1_000)
        }
    }

    // MARK: Costs

    /// Whether a university's installation has it.
    private static func isInstalled(_ process: IdleProcess) -> Bool {
        ServiceEntry.all.contains { ![.fcmEmulator, .identityEmulator].contains($0) && $0.executable == process.name }
    }

    /// - Parameter services: They run, and nothing else that shares libraries with them, except this process.
    private static func installation(of services: [IdleProcess]) throws -> Installation {
        let memory = try services.map { ($0.name, try ProcessCost(of: $0.process.identifier).proportional) }
        // This process's share of what it has in common with them. Without it they would have all of that.
        let own = try ProcessCost(of: getpid())
        let sum = memory.reduce(own.proportional - own.privateMemory) { $0 + $1.1 }
        return Installation(
            services: Dictionary(uniqueKeysWithValues: memory.map { ($0.0, $0.1.twoDigits) }), proportional: sum.twoDigits)
    }

    private struct Use {
        /// Of one processor.
        let percent: Double
        /// A second.
        let wakeUps: Double
    }

    /// - Returns: The memory at the end of the time, and the processor time until then.
    private func costs(of processes: [IdleProcess]) async throws -> (costs: [String: ProcessCost], used: [String: Use]) {
        try await Task.sleep(for: settling)
        let begin = ContinuousClock.now
        var threads = try processes.map { try ThreadCosts(of: $0.process.identifier) }
        repeat {
            try await Task.sleep(for: .seconds(1))
            for index in threads.indices { try threads[index].look() }
        } while ContinuousClock.now - begin < .seconds(seconds)
        let time = (ContinuousClock.now - begin) / .seconds(1)
        var (costs, used): ([String: ProcessCost], [String: Use]) = ([:], [:])
        for (process, threads) in zip(processes, threads) {
            costs[process.name] = try ProcessCost(of: process.process.identifier)
            let percent = Double(threads.processorTime) / 1e9 / time * 100
            used[process.name] = Use(percent: (percent * 1_000).rounded() / 1_000, wakeUps: Double(threads.wakeUps) / time)
        }
        return (costs, used)
    }

    /// The same with ports for metrics, which are read as Prometheus does.
    private func metricsCosts(_ socket: ReadinessSocket) async throws -> [String: Use] {
        let port = try LoopbackPort.free()
        var running: [IdleProcess] = []
        var ports: [Int] = []
        for service in ServiceEntry.all {
            ports.append(try LoopbackPort.free())
            running.append(try await start(service, socket, emulatorPort: port, metricsPort: ports.last))
        }
        let used = try await withHTTPClient { http in
            try await Self.readMetrics(ports, http)
            return try await withThrowingTaskGroup(of: Void.self) { [ports] group in
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.scrapeInterval)
                        try await Self.readMetrics(ports, http)
                    }
                }
                let used = try await costs(of: running).used
                group.cancelAll()
                return used
            }
        }
        for process in running.reversed() { await process.process.stop() }
        return used
    }

    private static func readMetrics(_ ports: [Int], _ http: HTTPClient) async throws {
        for port in ports {
            let answer = try await http.answer(
                .GET, "http://127.0.0.1:\(port)/metrics", headers: [:], body: nil, within: .seconds(10))
            guard answer.status == 200 else { throw PeerFailure(description: "/metrics answers \(answer.status)") }
        }
    }
}
