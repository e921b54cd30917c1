import Bus
import CoreMetrics
import FoundationEssentials
import Glibc
package import Logging
import Base
import Schemas
package import ServiceLifecycle
import Synchronization
import UnixSignals

/// The `main` of every service: reads the settings, wires the parts together, and runs them until a signal stops them.
package enum ServiceMain {
    /// Runs a service to its end, and ends the process.
    ///
    /// SIGTERM and SIGINT stop it gracefully, and SIGHUP makes it read its settings again. Exit codes: 0 after a stop, 78 (EX_CONFIG) for an invalid setting, 1 for a failed
    /// start or run.
    ///
    /// - Parameters:
    ///   - entry: The service's entry in the catalogue.
    ///   - subcommand: The command line's first word, if this service has several commands.
    ///   - aliases: Further names of flags, with the flags that they stand for, such as `["--name": "--phone-name"]`.
    ///   - check: Checks for `--check-config` what the form of single settings does not show, such as files with keys.
    ///   - wire: Builds the parts. An error stops the start.
    package static func run(
        _ entry: ServiceEntry, subcommand: String? = nil, aliases: [String: String] = [:],
        check: @escaping @Sendable (Wiring) async throws -> Void = { _ in },
        wire: @escaping @Sendable (Wiring) async throws -> ServicePlan
    ) -> Never {
        ProcessMain.run(makesPrivateFiles: true) {
            await start(entry, subcommand, aliases, check: check, wire: wire)
        }
    }

    private static let checkFlag = "--check-config"

    private static func start(
        _ entry: ServiceEntry, _ subcommand: String?, _ aliases: [String: String],
        check: @escaping @Sendable (Wiring) async throws -> Void, wire: @Sendable (Wiring) async throws -> ServicePlan
    ) async -> Never {
        DescriptorLimit.raise()
        let terminal = TerminalWatch()
        // Before the settings are read, so that no later change of them is missed.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let name = entry.executable
        let accepted = SettingDeclaration.common + entry.settings
        var arguments = CommandLine.arguments.dropFirst(subcommand == nil ? 1 : 2).map { argument in
            let flag = argument.prefix { $0 != "=" }
            return (aliases[String(flag)] ?? String(flag)) + argument.dropFirst(flag.count)
        }
        if arguments.contains("--help") {
            print(SettingHelp(program: subcommand.map { "\(name) \($0)" } ?? name, summary: entry.summary, settings: accepted))
            exit(0)
        }
        if arguments.contains("--version") {
            print(name, productVersion)
            exit(0)
        }
        let onlyChecks = arguments.contains(checkFlag)
        arguments.removeAll { $0 == checkFlag }
        do {
            let readSettings = { @Sendable [arguments] in
                try await SettingValues(
                    arguments: arguments, environment: ProcessInfo.processInfo.environment, accepted: accepted)
            }
            let readTime = UnixMilliseconds.now
            let values = try await readSettings()
            let check = ConfigurationCheck(name: name, settings: accepted) { wiring in
                var wiring = wiring
                wiring.onlyChecks = onlyChecks
                let hosts = try entry.checkBus(wiring.settings, logger: wiring.logger)
                try await check(wiring)
                // While the service runs, a host without a key is a line in the log.
                guard onlyChecks else {
                    for problem in hosts { wiring.logger.warning("\(problem)") }
                    return []
                }
                _ = try StateDirectory.secure(try wiring.settings.value(.stateDirectory), onlyChecks: true)
                return hosts + (try await entry.checkNames(wiring.settings, logger: wiring.logger))
            }
            if onlyChecks {
                let problems = await check.problems(in: values)
                for line in values.warnings + problems { StandardError.write("\(name): \(line)\n") }
                if problems.isEmpty { print("\(name): the configuration is valid") }
                exit(problems.isEmpty ? 0 : EX_CONFIG)
            }
            ServiceManager.notify("STATUS=starting \(productVersion)")
            let level = LogLevel(try values.value(.logLevel))
            values.liveSettings.add(Setting.logLevel.declaration) { values in
                let new = try values.value(.logLevel)
                return { level.value = new }
            }
            let logger = Logger.service(name, format: try values.value(.logFormat), level: level)
            for warning in values.warnings { logger.warning("\(warning)") }
            if let change = try StateDirectory.secure(try values.value(.stateDirectory)) { logger.warning("\(change)") }
            let port = try values.optional(.metricsPort)
            let registry = MetricRegistry()
            // Without a port the values would not be read.
            if port != nil { MetricsSystem.bootstrap(registry) }
            do {
                for problem in try entry.checkBus(values, logger: logger) { logger.warning("\(problem)") }
                let plan = try await wire(Wiring(settings: values, logger: logger))
                let readiness = MetricsServer.Readiness()
                let status = ManagerStatus()
                let folder = try values.value(.stateDirectory)
                let reload = try SettingsReload(
                    values, readAfter: readTime, privateFiles: [folder] + entry.stateFiles.map { "\(folder)/\($0)" },
                    check: check,
                    logger: logger, readAgain: readSettings)
                CommandRouter.report.withLock { $0 = { reload.report } }
                let ready = ReadinessService(
                    whenReady: plan.whenReady, readiness: readiness, status: status, reload: reload, hangUps: hangUps,
                    terminal: terminal, logger: logger)
                let watchdogLimit = Watchdog.limit()
                let check = port == nil && watchdogLimit == nil ? nil : try plan.selfCheck.map { try SelfCheckRun($0) }
                var observers: [any Service] = []
                if let port {
                    observers.append(
                        MetricsServer(
                            service: entry.name, port: port, registry: registry, readiness: readiness, plan: plan, check: check,
                            logger: logger))
                }
                if let check, let watchdogLimit {
                    observers.append(Watchdog(check, limit: watchdogLimit, status: status, logger: logger))
                }
                try await run(
                    plan, observers: observers, ready: ready, isSupervised: try values.value(.supervised), logger: logger)
                exit(0)
            } catch let error as ConfigurationError {
                throw error
            } catch let error as BusError where error.code == .invalidEndpoint {
                // Endpoints come from the settings, so an invalid one is a configuration error.
                throw ConfigurationError("a bus endpoint: \(error)")
            } catch {
                logger.critical("stopped by an error", metadata: ["error": "\(error)"])
                exit(1)
            }
        } catch {
            StandardError.write("\(name): \(error)\n")
            exit(EX_CONFIG)
        }
    }

    private static func run(
        _ plan: ServicePlan, observers: [any Service], ready: ReadinessService, isSupervised: Bool, logger: Logger
    ) async throws {
        var services = plan.services.map {
            ServiceGroupConfiguration.ServiceConfiguration(
                service: NamedService($0), successTerminationBehavior: plan.endsByItself ? .gracefullyShutdownGroup : .cancelGroup
            )
        }
        if isSupervised {
            services.append(
                .init(
                    service: NamedService(SupervisorWatch(logger: logger)), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        services += observers.map { .init(service: NamedService($0)) }
        services.append(.init(service: NamedService(ready), successTerminationBehavior: .gracefullyShutdownGroup))
        var quiet = logger
        quiet.logLevel = .warning
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        let outcome: Result<Void, any Error>
        do {
            try await group.run()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await plan.close()
        try outcome.get()
        logger.info("stopped")
    }
}

/// The input for the wiring of a service.
package struct Wiring: Sendable {
    package let settings: SettingValues
    package let logger: Logger
    /// Whether the settings are only checked (`--check-config`). A running service that reads them again must not refuse them because
    /// something is briefly unreachable.
    package var onlyChecks = false
}

/// A service, wired together and not yet running.
package struct ServicePlan: Sendable {
    /// The parts to run, each after its dependencies. They are stopped in reverse order.
    package let services: [any Service]
    /// Returns once the service can do its work.
    package let whenReady: @Sendable () async throws -> Void
    /// Releases the services' resources after all of them have ended.
    package let close: @Sendable () async throws -> Void
    /// How the service finds out whether it still works, for the service manager's watchdog.
    package let selfCheck: SelfCheck?
    /// Sets the gauges whose values are only read when a monitoring system asks, such as the lengths of queues.
    package let collectMetrics: @Sendable () async -> Void
    /// Whether the process ends as soon as the first service has ended; otherwise that is an error.
    package let endsByItself: Bool

    package init(
        services: [any Service],
        endsByItself: Bool = false,
        selfCheck: SelfCheck? = nil,
        collectMetrics: @escaping @Sendable () async -> Void = {},
        close: @escaping @Sendable () async throws -> Void,
        whenReady: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.services = services
        self.whenReady = whenReady
        self.selfCheck = selfCheck
        self.collectMetrics = collectMetrics
        self.close = close
        self.endsByItself = endsByItself
    }
}

/// `--check-config`: finds what would stop a service at its start.
struct ConfigurationCheck {
    /// The service's executable.
    let name: String
    /// The settings of the service.
    let settings: [SettingDeclaration]
    /// Checks what the form of single settings does not show.
    ///
    /// - Returns: One sentence for each problem.
    let further: @Sendable (Wiring) async throws -> [String]

    /// - Returns: One sentence for each problem. What depends on several settings is checked only if each has the right form.
    func problems(in values: SettingValues) async -> [String] {
        let problems = values.problems(of: settings)
        guard problems.isEmpty else { return problems }
        do {
            return try await further(Wiring(settings: values, logger: .service(name, format: .text, level: .warning)))
        } catch {
            return ["\(error)"]
        }
    }
}
