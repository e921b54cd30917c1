/// A request on its way. Belongs to the transport's thread until it has ended.
final class Transfer: @unchecked Sendable {
    let request: HTTPTransportRequest
    /// What became of it, once it has ended.
    fileprivate(set) var outcome: HTTPTransportOutcome?
    /// What carries it; `nil` as long as it waits for its turn.
    var easy: CurlEasy?
    /// Its place among those that the thread has taken and not ended.
    var place: Int?
    /// Those who wait for it, until it has ended.
    fileprivate var exchange: Exchange?

    fileprivate init(_ request: HTTPTransportRequest) {
        self.request = request
    }

    /// Says what became of it; once.
    func end(_ outcome: HTTPTransportOutcome) {
        self.outcome = outcome
        exchange.take()?.oneHasEnded()
    }
}

/// Requests that a task waits for together. Belongs to the transport's thread from their submission until all have ended, and then
/// to the task again, which so frees the memory that it took.
final class Exchange: @unchecked Sendable {
    let transfers: [Transfer]
    private var underWay: Int
    /// Not a checked one, whose price is paid for every message: it is taken out before it is resumed.
    private var continuation: UnsafeContinuation<Void, Never>?

    /// - Parameter requests: At least one.
    init(_ requests: [HTTPTransportRequest]) {
        transfers = requests.map(Transfer.init)
        underWay = requests.count
    }

    /// The task waits from now on.
    func begin(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        for transfer in transfers { transfer.exchange = self }
    }

    fileprivate func oneHasEnded() {
        underWay -= 1
        if underWay == 0 { continuation.take()?.resume() }
    }

    /// What became of each request. All of them have ended.
    var outcomes: [HTTPTransportOutcome] {
        transfers.map { $0.outcome ?? .failure(TransportError(.other, "the request has no outcome")) }
    }
}
