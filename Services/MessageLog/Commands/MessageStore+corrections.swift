import MessageStorage
import Schemas

// On a phone, a correction takes the place of the corrected message. So of the messages that may have this place, only the newest one
// may still be on its way.

extension MessageStore {
    /// Checks that neither the message that a correction corrects nor another correction of it is on its way.
    ///
    /// - Returns: `nil` if so, or the message corrects none. Otherwise the message that is stored under the new one's keys already.
    /// - Throws: ``CommandFailure`` with status `conflict` if none is stored.
    func requirePlace(of correction: Message) async throws -> OutboxItem? {
        guard let corrected = correction.draft.corrects else { return nil }
        var waiting = try await corrections(of: corrected).filter { !$0.state.isFinal }.map(\.msiKey)
        if let message = try await message(corrected), !message.relay.state.isFinal { waiting.append(corrected) }
        guard let first = waiting.first else { return nil }
        if let known = try await stored(.message(correction)) { return known }
        throw CommandFailure(
            .conflict,
            first == corrected
                ? "message \(first) is still on its way; correct it once it has ended"
                : "correction \(first) of the same message is still on its way; recall it, or wait until it has ended",
            field: "draft.follows")
    }

    /// Checks that no correction has taken a message's place, which it would take back if it went out again.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if one has.
    func requireNotCorrected(_ msiKey: ObjectID) async throws {
        guard let message = try await message(msiKey) else { return }
        var later = try await corrections(of: msiKey)
        if let corrected = message.draft.corrects {
            later += try await corrections(of: corrected).filter {
                ($0.timestamp, $0.msiKey) > (message.timestamp, message.msiKey)
            }
        }
        guard let correction = later.first(where: { $0.state != .recalled }) else { return }
        throw CommandFailure(.conflict, "it was corrected by message \(correction.msiKey), whose place it would take")
    }
}

extension RelayState {
    fileprivate var isFinal: Bool {
        switch self {
        case .held, .pending, .retrying: false
        case .relayed, .failed, .expired, .recalled: true
        }
    }
}
