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

    /// Ends the waits of a message or a push for FCM's quota, so that its commands are answered at once.
    ///
    /// - Returns: Whether it has waited.
    func withdraw(_ key: ObjectID) async -> Bool
}

/// The FCM relays on the bus.
struct BusRelay: Relay {
    private static let withdrawTimeout = Duration.seconds(1)

    let client: CommandClient
    /// A client for each relay: any of them may have the message.
    let all: InstanceClients

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

    func withdraw(_ key: ObjectID) async -> Bool {
        await withTaskGroup(of: Int.self) { group in
            for relay in all.all {
                group.addTask {
                    // A relay that is away, or of an earlier version, holds nothing that can be recalled.
                    let reply = try? await relay.client.request(WithdrawSends(key), timeout: Self.withdrawTimeout)
                    return reply?.withdrawn ?? 0
                }
            }
            return await group.reduce(0, +) > 0
        }
    }

    /// The relay gets the timeout, and does not begin the command after it.
    private func timeout(until end: UnixMilliseconds) -> Duration {
        min(DeliveryTimes.relayTimeout, Duration(max(0, end - .now)))
    }
}
