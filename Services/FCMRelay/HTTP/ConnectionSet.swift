import ServiceKit

/// A libcurl multi handle with its connections, which are abandoned together once one of them is silent.
///
/// libcurl uses an HTTP/2 connection for new requests as long as it is open, even if it does not answer. A connection can be dead
/// without a TCP reset, for example behind a firewall that has dropped its state. It would be used until the kernel closes it
/// after a quarter of an hour. If a proxy takes the bytes, it would be used for ever. libcurl cannot remove one connection from a
/// multi handle. So new requests get another handle with new connections.
///
/// The transport's thread owns it.
final class ConnectionSet {
    let multi: CurlMulti
    /// The number of transfers that libcurl works on.
    private(set) var transfers = 0
    private let silenceTimeout: Duration
    private let opened: ContinuousClock.Instant
    private var hasAnswered = false
    /// When each connection last answered, by its local port.
    private var lastAnswers: [Int32: ContinuousClock.Instant] = [:]

    /// The minimum silence that counts against a connection. In less time a request may have had no chance of an answer.
    private static let minSilence = Duration.seconds(1)
    /// A set that has never answered is abandoned only after this time: if FCM itself hangs, new connections do
    /// not answer sooner.
    private static let minAge = DeliveryTimes.fcmRequestTimeout
    /// Closed connections are forgotten when there are more than this many.
    private static let rememberedConnections = 32

    init(_ configuration: CurlConfiguration) throws(TransportError) {
        multi = try CurlMulti(configuration)
        silenceTimeout = configuration.silenceTimeout
        opened = .now
    }

    /// Begins a transfer.
    func add(_ easy: CurlEasy) throws(TransportError) {
        try multi.add(easy)
        transfers += 1
        easy.connections = self
    }

    /// Removes a transfer, finished or not.
    func remove(_ easy: CurlEasy) {
        multi.remove(easy)
        transfers -= 1
        easy.connections = nil
    }

    /// Notes that a transfer got its answer.
    func answered(_ easy: CurlEasy, at now: ContinuousClock.Instant) {
        hasAnswered = true
        lastAnswers[easy.localPort] = now
    }

    /// Whether new requests must use new connections, because this transfer's connection has answered no request for a while.
    ///
    /// - Parameter isTooLate: Whether the transfer times out now. Then a shorter silence is sufficient.
    func shouldAbandon(for easy: CurlEasy, isTooLate: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard let sentAt = easy.sentAt, hasAnswered || now - opened >= Self.minAge else { return false }
        let silence = now - max(sentAt, lastAnswers[easy.localPort] ?? sentAt)
        return silence >= (isTooLate ? min(Self.minSilence, silenceTimeout) : silenceTimeout)
    }

    /// Forgets connections that are closed or silent.
    func forgetOldAnswers(at now: ContinuousClock.Instant) {
        guard lastAnswers.count > Self.rememberedConnections else { return }
        lastAnswers = lastAnswers.filter { now - $0.value < silenceTimeout }
    }
}
