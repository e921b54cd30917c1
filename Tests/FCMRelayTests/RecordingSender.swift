import FCM
import Schemas
import Synchronization
import Time

@testable import FCMRelay

/// A sender for messages, without pushes, like that of the legacy API. It gives the answers that the test has chosen, and records
/// its input.
final class RecordingSender: FCMSender {
    struct Sent: Sendable {
        let request: FCMRequest
        let expiry: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
    }

    private let log = Mutex<[Sent]>([])
    private let answer: @Sendable (FCMMessage) async -> Result<String, SendFailure>

    init(_ answer: @escaping @Sendable (FCMMessage) async -> Result<String, SendFailure> = { _ in .success("n") }) {
        self.answer = answer
    }

    func send(
        _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<String, SendFailure>] {
        var results: [Result<String, SendFailure>] = []
        for component in components {
            let request = FCMRequest(component, of: message, now: now)
            log.withLock { $0.append(Sent(request: request, expiry: expiry, deadline: deadline)) }
            results.append(await answer(request.message))
        }
        return results
    }

    var sent: [Sent] { log.withLock(\.self) }
}
