import FoundationEssentials
import Glibc
import JSON
import NIOHTTP1
import ServiceKit
import TestSupport

/// The product's executables, with settings that remove the limits of the gateway and of FCM.
struct MessageStack: Sendable {
    /// The services, and the database server if the benchmark has started it.
    let processes: [(name: String, identifier: Int32)]
    let portal: Portal
    let fcm: FCMServer

    /// The settings of a gateway whose limits are not to be measured.
    static let unlimitedGateway = [
        "MSI_GATEWAY_ADDRESS_REQUESTS": "1000000000", "MSI_GATEWAY_ACCOUNT_REQUESTS": "1000000000",
        // Requests may come from many addresses, as through a proxy.
        "MSI_GATEWAY_TRUSTED_PROXIES": "127.0.0.1", "MSI_GATEWAY_MAX_CONNECTIONS": "3000",
        "MSI_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS": "3000",
    ]

    /// Runs the stack, with a new state directory on a disk.
    ///
    /// - Parameters:
    ///   - database: The connection string, and the process of the server if it is on this machine; `nil` for SQLite.
    ///   - gateway: Settings of the gateway; by default those without its limits.
    ///   - people: Settings of the people service.
    ///   - executables: The folder of the executables.
    ///   - folder: The state directory. Its path is short, because it contains sockets.
    static func with<Value>(
        database: (url: String, process: Int32?)?, gateway: [String: String] = unlimitedGateway, people: [String: String] = [:],
        executables: URL = ServiceProcess.executables, in folder: String, _ body: (MessageStack) async throws -> Value
    ) async throws -> Value {
        // The services require that other users may not enter it.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var services: [ServiceProcess] = []
        do {
            let emulator = try await Emulator.start(executables: executables, in: folder)
            services.append(emulator)
            let access = EmulatorAccess(port: try emulator.port, stateDirectory: folder)
            let relaySettings = access.settings.merging(RunningRelay.unlimitedPace) { given, _ in given }
            let storeSettings = database.map { ["MSI_DATABASE_URL": $0.url] } ?? [:]
            for (name, settings) in [
                ("msi-fcm-relay", relaySettings), ("msi-cube", storeSettings),
                ("msi-people", storeSettings.merging(people) { $1 }),
                ("msi-message-log", storeSettings), ("msi-broadcast", storeSettings),
                ("msi-gateway", ["MSI_GATEWAY_PORT": "0"].merging(gateway) { $1 }),
            ] where isThere(name, in: executables) {
                services.append(try await ServiceProcess(name, in: folder, settings: settings, executables: executables))
                if name == "msi-people" { try await TestOperator.setUp(in: folder) }
            }
            let gatewayPort = try services[services.count - 1].port
            let value = try await withHTTPClient(trusting: access.certificateFile) { http in
                try await body(
                    MessageStack(
                        processes: services.map { ($0.name, $0.identifier) }
                            + (database?.process.map { [("database", $0)] } ?? []),
                        portal: Portal(port: gatewayPort, http: http, token: try TestOperator.token(in: folder)),
                        fcm: FCMServer(port: access.port, folder: access.folder, http: http)))
            }
            await stop(services)
            return value
        } catch {
            await stop(services)
            throw error
        }
    }

    /// Whether a version of the product has a service: earlier ones have no accounts and no broadcasts.
    private static func isThere(_ name: String, in executables: URL) -> Bool {
        FileManager.default.fileExists(atPath: executables.appending(path: name).path(percentEncoded: false))
    }

    private static func stop(_ services: [ServiceProcess]) async {
        for service in services.reversed() { await service.stop() }
    }

    /// Whether every message of the archive has ended.
    func isArchiveAtRest() async throws -> Bool {
        for state in ["pending", "retrying"] {
            let answer = try await portal.call(.GET, "/message?limit=1&state=\(state)")
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            if try answer.json["messages"]?.array.isEmpty != true { return false }
        }
        return true
    }
}

/// The processor time and memory of processes.
struct StackUsage {
    private let processes: [(name: String, usage: ProcessUsage)]
    /// The CPU time of this process, which listens as the phone, and of its ended child processes, which post.
    private let benchmark: Double

    init(of stack: MessageStack) throws {
        processes = try stack.processes.map { ($0.name, try ProcessUsage(of: $0.identifier)) }
        benchmark = ProcessorTime.now()
    }

    /// The usage of each process since an earlier time.
    ///
    /// - Parameter messages: The number of messages since then.
    func figures(since before: StackUsage, messages: Int) -> [MessageFigures.Process] {
        func microseconds(_ seconds: Double) -> Double { (seconds / Double(max(messages, 1)) * 1e6).rounded() }
        let services = zip(processes, before.processes).map { now, before in
            MessageFigures.Process(
                name: now.name, processorTime: microseconds(now.usage.processorTime - before.usage.processorTime),
                resident: (Double(now.usage.resident) / 1_024).rounded())
        }
        return services + [
            MessageFigures.Process(name: "benchmark", processorTime: microseconds(benchmark - before.benchmark), resident: nil)
        ]
    }
}
