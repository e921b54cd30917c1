package import CommandBus
package import Logging
package import Schemas
import Synchronization

/// How a service finds out whether it still does its work. It answers the service manager's watchdog (``Watchdog``) and the questions
/// of a monitoring system.
package struct SelfCheck: Sendable {
    /// Uses what can get stuck, and returns the service's state.
    ///
    /// - Throws: An error if something is stuck. A store that is away is part of the state: a restart would not bring it back.
    package typealias Check = @Sendable () async throws -> PartHealth

    /// Makes the check, and connects what it needs. Not called without a watchdog and a port for metrics.
    let start: @Sendable () throws -> Check

    package init(start: @escaping @Sendable () throws -> Check) {
        self.start = start
    }

    /// Sends commands to the service's own endpoint, through ZeroMQ, the bus thread and the threads of the handlers to the store.
    ///
    /// - Parameter server: The service's own server.
    package static func commands(of server: CommandServer, bus: Bus, logger: Logger) -> SelfCheck {
        SelfCheck { [endpoint = server.endpoint] in
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: logger)
            let patience = Patience()
            return {
                do {
                    _ = try await client.request(Ping(), timeout: .seconds(3))
                } catch let error as CommandFailure where error.status == .overloaded {
                    // It answers that it has too much to do. A restart would only add to that.
                    return PartHealth(error.status, error.message)
                }
                do {
                    let health = PartHealth(try await client.request(CheckHealth(), timeout: .seconds(4)))
                    patience.reset()
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
    }
}

/// How long the store may take before the service counts as stuck: longer than every timeout of a database.
private final class Patience: Sendable {
    private static let limit = Duration.seconds(60)
    private let since = Mutex<ContinuousClock.Instant?>(nil)

    /// The store has answered.
    func reset() { since.withLock { $0 = nil } }

    /// The store has not answered. Whether it is not yet too long ago that it did.
    func isLeft() -> Bool {
        let now = ContinuousClock.now
        return since.withLock { since in
            let start = since ?? now
            since = start
            return now - start < Self.limit
        }
    }
}

extension PartHealth {
    /// One line for people: `ready`, or what cannot be used.
    var line: String {
        if status != .ok { return singleLine(message ?? status.rawValue) }
        let failing = parts.filter { !$0.value.isWell }.sorted { $0.key < $1.key }
        guard !failing.isEmpty else { return "ready" }
        return failing.map { "\($0.key): \(singleLine($0.value.message ?? $0.value.status.rawValue))" }.joined(separator: "; ")
    }

    private func singleLine(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}
