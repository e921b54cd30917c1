import CommandBus
import Schemas
import ServiceKit

/// Sends messages to FCM.
protocol Relay: Sendable {
    /// Relays a message's components.
    ///
    /// - Parameter end: The end of the message's lease. From then on nothing may be sent.
    /// - Returns: One outcome for each requested component.
    /// - Throws: ``CommandFailure`` if there is no answer, or if the whole command was refused.
    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome]
}

/// The FCM relays on the bus.
struct BusRelay: Relay {
    let client: CommandClient

    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome] {
        // The relay gets the timeout, and does not begin the command after it.
        try await client.request(command, timeout: min(DeliveryTimes.relayTimeout, .milliseconds(max(0, end - .now)))).components
    }
}
