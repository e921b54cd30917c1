import Glibc
import Base
import ServiceKit
import Synchronization
import TestSupport
import Testing

/// The product without a supervisor: the test starts and ends each service as a separate process.
struct SeparateServices: Sendable {
    let folder: String
    let portal: Portal
    let fcm: FCMServer
    /// The settings with which a service starts, and starts again, by its executable.
    private let settings: [String: [String: String]]
    private let processes: Processes

    /// The running people service and cube service, and what a test has started.
    fileprivate final class Processes: Sendable {
        let people: Mutex<ServiceProcess>
        let cube: Mutex<ServiceProcess>
        let started = Mutex<[ServiceProcess]>([])

        init(people: ServiceProcess, cube: ServiceProcess) {
            self.people = Mutex(people)
            self.cube = Mutex(cube)
        }
    }

    /// The people service, which a test may stop or freeze.
    var people: ServiceProcess { processes.people.withLock(\.self) }
    /// The cube service, which a test may stop or freeze.
    var cube: ServiceProcess { processes.cube.withLock(\.self) }

    /// Runs the emulator, the cube service, the people service and the gateway. The test starts the relay and the message log.
    ///
    /// - Parameters:
    ///   - peopleSettings: Further settings of the people service.
    ///   - gatewaySettings: Further settings of the gateway.
    static func with(
        peopleSettings: [String: String] = [:], gatewaySettings: [String: String] = [:],
        _ body: (SeparateServices) async throws -> Void
    ) async throws {
        StackCount.started("services without msi up")
        try await withTemporaryFolder { folder in
            try await TestOperator.prepare(folder)
            let settings = [
                "msi-fcm-emulator": ["MSI_FCM_EMULATOR_PORT": "0"], "msi-people": peopleSettings,
                "msi-gateway": gatewaySettings.merging(["MSI_GATEWAY_PORT": "0"]) { given, _ in given },
            ]
            let names = ["msi-fcm-emulator", "msi-cube", "msi-people", "msi-gateway"]
            let processes = try await withServices(names, in: folder) { name, _ in
                settings[name] ?? [:]
            } _: { running in
                let access = EmulatorAccess(port: try running[0].port, stateDirectory: folder)
                let processes = Processes(people: running[2], cube: running[1])
                try await withHTTPClient(trusting: access.certificateFile) { http in
                    let services = SeparateServices(
                        folder: folder,
                        portal: Portal(port: try running[3].port, http: http, token: try TestOperator.token(in: folder)),
                        fcm: FCMServer(port: access.port, folder: access.folder, http: http),
                        settings: [
                            "msi-fcm-relay": access.settings.merging(["MSI_FCM_RAMP": "0"]) { $1 }, "msi-people": peopleSettings,
                        ], processes: processes)
                    try await services.use(body)
                }
                return processes
            }
            // Those that a test has started instead of the first ones.
            for process in [processes.people.withLock(\.self), processes.cube.withLock(\.self)] where process.isRunning {
                await process.stop()
            }
        }
    }

    /// Runs a body, and ends the processes that it has started and has not ended.
    func use(_ body: (SeparateServices) async throws -> Void) async throws {
        try await perform {
            try await body(self)
        } finally: {
            let started = processes.started.withLock { started in
                defer { started = [] }
                return started
            }
            // A frozen process is killed as well.
            for process in started.reversed() where process.isRunning { await process.kill() }
        }
    }

    /// Starts another process of a service.
    ///
    /// - Parameter own: Settings in addition to those that the services have in common.
    func start(_ name: String, settings own: [String: String] = [:]) async throws -> ServiceProcess {
        let process = try await run(name, own)
        processes.started.withLock { $0.append(process) }
        return process
    }

    private func run(_ name: String, _ own: [String: String] = [:]) async throws -> ServiceProcess {
        try await ServiceProcess(name, in: folder, settings: (settings[name] ?? [:]).merging(own) { _, own in own })
    }

    /// Starts a further gateway.
    ///
    /// - Parameters:
    ///   - own: The name of a separate state directory; `nil` for that of the first gateway.
    ///   - settings: Further settings.
    func startGateway(
        in own: String? = nil, settings: [String: String] = [:]
    ) async throws -> (process: ServiceProcess, portal: Portal) {
        let folders = own.map { ["MSI_STATE_DIR": "\(folder)/\($0)", "MSI_RUNTIME_DIR": "\(folder)/run"] } ?? [:]
        let process = try await start(
            "msi-gateway", settings: folders.merging(["MSI_GATEWAY_PORT": "0"]) { $1 }.merging(settings) { $1 })
        return (process, Portal(port: try process.port, http: portal.http, token: portal.token))
    }

    /// Starts or continues the people service and the cube service, which were ended, or frozen by `SIGSTOP`.
    ///
    /// - Returns: The running processes.
    func restart(after signal: Int32) async throws -> [ServiceProcess] {
        guard signal == SIGSTOP else {
            let (people, cube) = (try await run("msi-people"), try await run("msi-cube"))
            processes.people.withLock { $0 = people }
            processes.cube.withLock { $0 = cube }
            return [people, cube]
        }
        for process in [people, cube] { process.signal(SIGCONT) }
        return [people, cube]
    }
}

/// Services without a supervisor, one set for all the tests of a suite: `@Suite(.services)`, and in the tests
/// ``SharedServices/use(_:)``.
struct SharedServices: SuiteTrait, TestScoping {
    @TaskLocal private static var running: SeparateServices?

    /// Runs a test. The processes that it starts end with it, and so do the emulator's faults.
    static func use(_ body: (SeparateServices) async throws -> Void) async throws {
        let services = try #require(running)
        // A test that has failed may have left them frozen.
        defer { for process in [services.people, services.cube] { process.signal(SIGCONT) } }
        try await perform {
            try await services.use(body)
        } finally: {
            try await services.fcm.setFaults([], seed: 1)
        }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await SeparateServices.with(
            peopleSettings: ["MSI_REGISTRATION": "anyone"], gatewaySettings: SystemTests.noLimits
        ) { services in
            try await Self.$running.withValue(services) { try await function() }
        }
    }
}

extension Trait where Self == SharedServices {
    static var services: SharedServices { SharedServices() }
}
