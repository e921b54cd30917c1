/// A pending request. The transport's thread owns it until it has ended.
final class Transfer: @unchecked Sendable {
    let request: HTTPTransportRequest
    /// The outcome, once it has ended.
    fileprivate(set) var outcome: HTTPTransportOutcome?
    /// The handle that carries it; `nil` while it is queued.
    var easy: CurlEasy?
    /// Its index among the thread's open transfers.
    var index: Int?
    /// The group that it belongs to, until it has ended.
    fileprivate var group: TransferGroup?

    fileprivate init(_ request: HTTPTransportRequest) {
        self.request = request
    }

    /// Sets the outcome. Call it once.
    func end(_ outcome: HTTPTransportOutcome) {
        self.outcome = outcome
        group.take()?.oneHasEnded()
    }
}

/// Requests that a task waits for together. The transport's thread owns them from the submission until all have ended. Then the
/// task owns them again, so that it frees the memory that it allocated.
final class TransferGroup: @unchecked Sendable {
    let transfers: [Transfer]
    private var pending: Int
    /// Unsafe, because a checked one costs time for every message. It is removed before it is resumed, so it is resumed once.
    private var continuation: UnsafeContinuation<Void, Never>?

    /// - Parameter requests: At least one.
    init(_ requests: [HTTPTransportRequest]) {
        transfers = requests.map(Transfer.init)
        pending = requests.count
    }

    /// Sets the continuation of the waiting task.
    func begin(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        for transfer in transfers { transfer.group = self }
    }

    fileprivate func oneHasEnded() {
        pending -= 1
        if pending == 0 { continuation.take()?.resume() }
    }

    /// The outcomes in order. All requests must have ended.
    var outcomes: [HTTPTransportOutcome] {
        transfers.map { $0.outcome ?? .failure(TransportError(.other, "the request has no outcome")) }
    }
}
