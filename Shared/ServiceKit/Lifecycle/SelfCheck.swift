package import Bus
import Base
package import Logging
package import Schemas
import Synchronization

/// How a service finds out whether it still does its work. It answers the service manager's watchdog (``Watchdog``) and the questions
/// of a monitoring system. ``SelfCheckRun`` runs it.
package struct SelfCheck: Sendable {
    /// A part of the process that can get stuck.
    package struct Step: Sendable {
        /// Names the part, in the answers and in the log.
        let name: String
        let run: @Sendable () async throws -> PartHealth

        /// - Parameters:
        ///   - run: Uses the part, and returns the service's state; `ok` if it knows only whether the part is stuck. It may take as long
        ///     as it needs: a part that does not answer within ``SelfCheckRun/timeout`` is stuck. Throws if the part is stuck. A store
        ///     that is away is part of the state: a restart would not bring it back.
        package init(_ name: String, run: @escaping @Sendable () async throws -> PartHealth) {
            self.name = name
            self.run = run
        }
    }

    /// Makes the steps, and connects what they need. Not called without a watchdog and a port for metrics.
    let start: @Sendable () throws -> [Step]

    package init(start: @escaping @Sendable () throws -> [Step]) {
        self.start = start
    }

    /// Sends commands to the service's own endpoint, through ZeroMQ, the bus thread and the threads of the handlers to the store.
    ///
    /// - Parameters:
    ///   - server: The service's own server.
    ///   - patience: How long the store may take before the service counts as stuck. By default it is longer than every timeout of a
    ///     database, and than a commit that moves a large write-ahead log to a slow disk, which a restart would only repeat.
    package static func commands(
        of server: CommandServer, bus: Bus, logger: Logger, patience: Duration = .seconds(60)
    ) -> SelfCheck {
        SelfCheck { [endpoint = server.endpoint] in
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: logger)
            let patience = Patience(limit: patience)
            return [
                .busThread(of: bus), .sharedThreads,
                Step("commands") { try await sendCommands(client, patience) },
            ]
        }
    }

    private static func sendCommands(_ client: CommandClient, _ patience: Patience) async throws -> PartHealth {
        do {
            _ = try await client.request(Ping(), timeout: .seconds(3))
        } catch  where error.status == .overloaded {
            // It is overloaded. A restart would only add to the load.
            return PartHealth(error.status, error.message)
        }
        do {
            let health = PartHealth(try await client.request(CheckHealth(), timeout: .seconds(4)))
            guard let store = health.parts[ServiceHealth.store], store.status == .deadlineExceeded else {
                patience.reset()
                return health
            }
            guard patience.isLeft() else { throw StuckService(parts: [ServiceHealth.store: store]) }
            return health
        } catch let error as CommandFailure {
            guard error.status == .deadlineExceeded else {
                patience.reset()
                return PartHealth(error.status, error.message)
            }
            // A database that hangs holds its operations for some seconds before it counts as away.
            guard patience.isLeft() else { throw error }
            return PartHealth(error.status, "the service's store takes long")
        }
    }
}

extension SelfCheck.Step {
    /// The thread that owns the sockets of the bus.
    package static func busThread(of bus: Bus) -> Self {
        SelfCheck.Step("bus_thread") {
            await Task(executorPreference: bus.taskExecutor) {}.value
            return .ok
        }
    }

    /// The threads on which Swift runs all tasks without a preference, such as most handlers.
    package static let sharedThreads = SelfCheck.Step("shared_threads") {
        await Task(executorPreference: globalConcurrentExecutor) {}.value
        return .ok
    }

    /// The thread that wakes up the periodic work. Every check has this step. The sleep is short: those who ask wait for it.
    static let periodicSleeps = SelfCheck.Step("periodic_sleeps") {
        try await Task.sleep(untilNext: .milliseconds(100))
        return .ok
    }
}

/// Parts of the service do not answer.
struct StuckService: Error, CustomStringConvertible {
    /// The state of each of them.
    let parts: [String: PartHealth]

    var description: String { health.trouble ?? health.status.rawValue }

    var health: PartHealth {
        let names = parts.keys.sorted().joined(separator: ", ")
        return PartHealth(.deadlineExceeded, "the service does not answer itself: \(names)", parts: parts)
    }
}

/// Limits the time since the store last answered, or since its last write ended.
private final class Patience: Sendable {
    private let limit: Duration
    private let since = Mutex<ContinuousClock.Instant?>(nil)

    init(limit: Duration) {
        self.limit = limit
    }

    /// The store has answered.
    func reset() { since.withLock { $0 = nil } }

    /// The store has not answered. Returns whether its last answer is recent enough to count as healthy.
    func isLeft() -> Bool {
        let now = ContinuousClock.now
        return since.withLock { since in
            let start = since ?? now
            since = start
            return now - start < limit
        }
    }
}

extension PartHealth {
    /// One line for people: what cannot be used; `nil` if everything can.
    var trouble: String? {
        let unwell = parts.filter { !$0.value.isWell }
        // A service that cannot work without a part has the part's message.
        let isThatOfPart = message != nil && unwell.values.contains { $0.message == message }
        let own = status == .ok || isThatOfPart ? [] : [singleLine(message ?? status.rawValue)]
        let failing = unwell.sorted { $0.key < $1.key }
            .map { "\($0.key): \(singleLine($0.value.message ?? $0.value.status.rawValue))" }
        return own.isEmpty && failing.isEmpty ? nil : (own + failing).joined(separator: "; ")
    }

    private func singleLine(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}
