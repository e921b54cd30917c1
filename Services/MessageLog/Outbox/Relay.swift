import CommandBus
import Schemas
import ServiceKit

/// Whoever takes messages to FCM.
protocol Relay: Sendable {
    /// Relays a message's components.
    ///
    /// - Parameter end: The end of the message's lease: nothing may be sent any more from then on.
    /// - Returns: One outcome for each component that was asked for.
    /// - Throws: ``CommandFailure`` when there is no answer, or when the command was refused as a whole.
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
        // The relay is told the moment, and does not begin what is asked of it later.
        try await client.request(command, timeout: min(DeliveryTimes.relayTimeout, .milliseconds(max(0, end - .now)))).components
    }
}
