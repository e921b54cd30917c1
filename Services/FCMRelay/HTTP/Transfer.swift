/// A request on its way, and whoever waits for its answer.
final class Transfer: Sendable {
    typealias Outcome = Result<HTTPTransportResponse, TransportError>

    let id: UInt64
    let request: HTTPTransportRequest
    private let continuation: CheckedContinuation<Outcome, Never>

    init(id: UInt64, request: HTTPTransportRequest, continuation: CheckedContinuation<Outcome, Never>) {
        self.id = id
        self.request = request
        self.continuation = continuation
    }

    /// Gives the answer to whoever waits for it; once.
    func end(_ outcome: Outcome) {
        continuation.resume(returning: outcome)
    }
}
