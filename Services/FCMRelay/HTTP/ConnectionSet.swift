import ServiceKit

/// Connections that are used together and given up together: a multi handle, and which of its connections answer.
///
/// libcurl keeps an HTTP/2 connection for as long as it is open, and sends new requests over it whether it answers or not. A
/// connection that is dead without a word, as behind a firewall that has forgotten it, would so be used until the kernel gives it
/// up, after a quarter of an hour, and for ever where a proxy takes the bytes. What cannot be done is to take one connection from
/// a multi handle; so new requests get another handle, whose connections are new.
///
/// It belongs to the transport's thread.
final class ConnectionSet {
    let multi: CurlMulti
    /// Transfers that are in libcurl's hands.
    private(set) var transfers = 0
    private let silenceTimeout: Duration
    private let opened: ContinuousClock.Instant
    private var hasAnswered = false
    /// When each connection last answered, by its local port.
    private var lastAnswers: [Int32: ContinuousClock.Instant] = [:]

    /// Less says nothing about a connection: a request may have had hardly any time.
    private static let minSilence = Duration.seconds(1)
    /// A set that has never answered is given up for another one after this time, and not before: where FCM itself hangs, others
    /// answer no sooner.
    private static let minAge = DeliveryTimes.fcmRequestTimeout
    /// So many connections are remembered at least; closed ones are forgotten when there are more.
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

    /// Takes a transfer out, whether it has ended or not.
    func remove(_ easy: CurlEasy) {
        multi.remove(easy)
        transfers -= 1
        easy.connections = nil
    }

    /// A transfer has had its answer.
    func answered(_ easy: CurlEasy, at now: ContinuousClock.Instant) {
        hasAnswered = true
        lastAnswers[easy.localPort] = now
    }

    /// Whether new requests had better go over other connections: this transfer's has answered nothing for a while, neither it
    /// nor any other.
    ///
    /// - Parameter isTooLate: Whether the transfer ends now for want of an answer; then less silence will do.
    func shouldGiveUp(for easy: CurlEasy, isTooLate: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard let sentAt = easy.sentAt, hasAnswered || now - opened >= Self.minAge else { return false }
        let silence = now - max(sentAt, lastAnswers[easy.localPort] ?? sentAt)
        return silence >= (isTooLate ? min(Self.minSilence, silenceTimeout) : silenceTimeout)
    }

    /// Forgets connections that are closed, or say nothing.
    func forgetOldAnswers(at now: ContinuousClock.Instant) {
        guard lastAnswers.count > Self.rememberedConnections else { return }
        lastAnswers = lastAnswers.filter { now - $0.value < silenceTimeout }
    }
}
