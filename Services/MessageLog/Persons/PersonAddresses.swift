import Base
import FCM
import Schemas

/// What a push to persons says, and where their devices are reached. It lives for one turn: addresses are never stored.
struct PersonAddresses: Sendable {
    private let content: StoredPersonPush
    private let devices: [ObjectID: ReachedDevice]

    init(_ content: StoredPersonPush, _ devices: [ReachedDevice]) {
        self.content = content
        self.devices = Dictionary(devices.map { ($0.device, $0) }) { first, _ in first }
    }

    subscript(recipient: PushRecipient) -> ReachedDevice? { recipient.device.flatMap { devices[$0] } }

    /// The commands for some parts of a push: one for each language, since a command has one message.
    ///
    /// - Parameter parts: Their positions in the record. All have the same transport.
    func commands(for parts: [Int], of push: Push, by transport: PushTransport) -> [PersonCommand] {
        let reached = parts.compactMap { part in self[push.relay.recipients[part].recipient].map { (part: part, device: $0) } }
        let groups = Dictionary(grouping: reached) { content.push.text(in: $0.device.language).language }
        return groups.map { language, group in
            PersonCommand(
                parts: group.map(\.part),
                relay: RelayPush(
                    pushID: push.id, transport: transport, recipients: group.map { .token($0.device.address.text) },
                    message: transport == .webpush ? content.webPush(in: language).json : content.fcm(in: language),
                    expires: push.expires))
        }
    }
}

/// A command for those parts of a push to persons whose devices have the same transport and language. The relays tell its repetition by its
/// id and recipients.
struct PersonCommand: Sendable {
    /// Their positions in the record, in the order of the command's recipients.
    let parts: [Int]
    let relay: RelayPush
}

/// What became of a command.
private struct PersonAnswer: Sendable {
    let parts: [Int]
    let answer: Result<[Result<String, DeliveryError>], CommandFailure>
}

extension Relay {
    /// Relays the commands of a push to persons at the same time.
    ///
    /// - Parameter end: The end of the lease. Nothing may be sent after it.
    /// - Throws: ``CommandFailure`` if no command was answered. Otherwise the parts of the others fail, so that no outcome is lost.
    func relay(_ commands: [PersonCommand], by end: UnixMilliseconds) async throws(CommandFailure) -> [PartResult] {
        var results: [PartResult] = []
        var failed: [(parts: [Int], failure: CommandFailure)] = []
        for command in await answers(to: commands, by: end) {
            switch command.answer {
            case .success(let outcomes): results += zip(command.parts, outcomes).map(PartResult.init)
            case .failure(let failure): failed.append((command.parts, failure))
            }
        }
        let worst = failed.first { $0.failure.isOutcomeUnknown } ?? failed.first
        if results.isEmpty, let worst { throw worst.failure }
        return results
            + failed.flatMap { parts, failure in
                let error = DeliveryError(unanswered: failure)
                return parts.map { PartResult(part: $0, result: .failure(error)) }
            }
    }

    private func answers(to commands: [PersonCommand], by end: UnixMilliseconds) async -> [PersonAnswer] {
        await withTaskGroup(of: PersonAnswer.self, returning: [PersonAnswer].self) { group in
            for command in commands { group.addTask { await answer(to: command, by: end) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    // A separate function: a typed throw that is caught in a task of a group crashed when it was optimised.
    private func answer(to command: PersonCommand, by end: UnixMilliseconds) async -> PersonAnswer {
        do throws(CommandFailure) {
            return PersonAnswer(parts: command.parts, answer: .success(try await relay(command.relay, by: end)))
        } catch {
            return PersonAnswer(parts: command.parts, answer: .failure(error))
        }
    }
}
