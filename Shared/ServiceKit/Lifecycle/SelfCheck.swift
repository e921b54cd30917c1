package import CommandBus
package import Logging
package import Schemas

/// How a service finds out whether it still does its work. It answers the service manager's watchdog (``Watchdog``) and the questions
/// of a monitoring system.
package struct SelfCheck: Sendable {
    /// Uses what can get stuck, and returns the service's state.
    ///
    /// - Throws: An error if something is stuck. A store that is away is part of the state: a restart would not bring it back.
    package typealias Check = @Sendable () async throws -> PartHealth

    /// Makes the check, and connects what it needs. Only called if somebody asks.
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
            return {
                _ = try await client.request(Ping(), timeout: .seconds(5))
                do {
                    return PartHealth(try await client.request(CheckHealth(), timeout: .seconds(10)))
                } catch let error as CommandFailure where error.status != .deadlineExceeded {
                    return PartHealth(error.status, error.message)
                }
            }
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
