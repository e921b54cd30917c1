import Schemas
import Synchronization
import Base

@testable import FCMRelay

/// A sender that gives the answers that the test has chosen for messages, and records them. It accepts every push.
final class RecordingSender: FCMSender {
    struct Sent: Sendable {
        let component: Component
        let message: RelayMessage
        let now: UnixMilliseconds
        let expiry: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
    }

    private let log = Mutex<[Sent]>([])
    private let answer: @Sendable (Component) async -> Result<String, SendFailure>

    init(_ answer: @escaping @Sendable (Component) async -> Result<String, SendFailure> = { _ in .success("n") }) {
        self.answer = answer
    }

    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        var results: [Result<String, SendFailure>] = []
        for component in components {
            let sent = Sent(component: component, message: message, now: now, expiry: expiry, deadline: deadline)
            log.withLock { $0.append(sent) }
            results.append(await answer(component))
        }
        return results
    }

    func send(
        _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        recipients.map { _ in .success("n") }
    }

    var sent: [Sent] { log.withLock(\.self) }
}
