import MessageStorage
import Schemas

/// The outcome of one part of a message or a push.
struct PartResult: Hashable, Sendable {
    /// The part's position in the record.
    let part: Int
    /// FCM's name for it, or why it was not accepted.
    let result: Result<String, DeliveryError>

    /// Whether FCM has accepted it or never will.
    var isFinal: Bool {
        switch result {
        case .success: true
        case .failure(let error): error.class != .retryable
        }
    }
}

extension [ComponentOutcome] {
    /// The outcomes by the components' positions in a record. Components that the record does not have are left out.
    func results(for record: RelayRecord) -> [PartResult] {
        compactMap { outcome in
            record.components.firstIndex { $0.component == outcome.component }.map {
                PartResult(part: $0, result: outcome.result)
            }
        }
    }
}

extension Relay {
    /// Relays parts of a message or a push.
    ///
    /// - Parameters:
    ///   - parts: Their positions in the record.
    ///   - end: The end of the lease. Nothing may be sent after it.
    /// - Throws: ``CommandFailure`` when there is no answer, or when the command was refused as a whole.
    func relay(
        _ parts: [Int], of item: OutboxItem, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [PartResult] {
        switch item {
        case .message(let message):
            let command = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, draft: message.draft, expires: message.expires,
                components: parts.map { message.relay.components[$0].component })
            return try await relay(command, by: end).results(for: message.relay)
        case .push(let push):
            let command = RelayPush(
                pushID: push.id, transport: push.transport, recipients: parts.map { push.relay.recipients[$0].recipient },
                message: push.message, expires: push.expires, project: push.project)
            return zip(parts, try await relay(command, by: end)).map(PartResult.init)
        }
    }
}
