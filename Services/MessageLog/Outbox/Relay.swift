import CommandBus
import Schemas
import ServiceKit
import Time

/// Sends messages and pushes to FCM.
protocol Relay: Sendable {
    /// Relays a message's components.
    ///
    /// - Parameter end: The end of the message's lease. Nothing may be sent after it.
    /// - Returns: One outcome for each requested component.
    /// - Throws: ``CommandFailure`` if there is no answer, or if the whole command was refused.
    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome]

    /// Relays a push.
    ///
    /// - Parameter end: As for messages.
    /// - Returns: One result for each recipient, in their order.
    /// - Throws: As for messages.
    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>]
}

/// The FCM relays on the bus.
struct BusRelay: Relay {
    let client: CommandClient

    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome] {
        try await client.request(command, timeout: timeout(until: end)).components
    }

    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
        try await client.request(command, timeout: timeout(until: end)).results.map(\.result)
    }

    /// The relay gets the timeout, and does not begin the command after it.
    private func timeout(until end: UnixMilliseconds) -> Duration {
        min(DeliveryTimes.relayTimeout, Duration(max(0, end - .now)))
    }
}
