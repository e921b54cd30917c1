import CCurl
import Base

/// libcurl's multi handle: a set of transfers and their shared connections.
///
/// One thread owns and closes it. Other threads may only call ``wakeUp()``, and not after ``close()``.
struct CurlMulti: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    init(_ configuration: CurlConfiguration) throws(TransportError) {
        guard curlIsReady, let handle = curl_multi_init() else {
            throw TransportError(.other, "libcurl cannot be used: it found no memory or no TLS library")
        }
        self.handle = handle
        set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        set(CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost)
        set(CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.streamsPerConnection)
        // Idle connections stay open.
        set(CURLMOPT_MAXCONNECTS, configuration.connectionsPerHost + configuration.otherConnections)
    }

    private func set(_ option: CURLMoption, _ value: Int) {
        let status = ccurl_multi_setopt_long(handle, option, value)
        assert(status == CURLM_OK, "option \(option.rawValue): \(status.text)")
    }

    /// Closes the connections and frees the handle. All transfers have been removed before.
    func close() {
        curl_multi_cleanup(handle)
    }

    /// Ends the current or next ``wait(for:)`` early.
    func wakeUp() {
        curl_multi_wakeup(handle)
    }

    func add(_ easy: CurlEasy) throws(TransportError) {
        let status = curl_multi_add_handle(handle, easy.handle)
        guard status == CURLM_OK else { throw TransportError(.other, status.text) }
    }

    /// Removes a transfer, finished or not. Has no effect on one that was never added.
    func remove(_ easy: CurlEasy) {
        curl_multi_remove_handle(handle, easy.handle)
    }

    /// Lets transfers that wait for a connection try again, at the next ``perform()``. libcurl (7.88.1) keeps those of all hosts in one
    /// list, of which each event lets the first one try. So if many wait for a host that does not answer, one for another host would
    /// wait as long, although its host has connections. The removal of a handle is such an event.
    ///
    /// - Parameters:
    ///   - count: How many, the longest-waiting first.
    ///   - spare: A handle without a transfer.
    func retryWaiting(_ count: Int, by spare: CurlEasy) {
        for _ in 0..<count where curl_multi_add_handle(handle, spare.handle) == CURLM_OK {
            curl_multi_remove_handle(handle, spare.handle)
        }
    }

    /// Sends and receives without waiting.
    func perform() {
        var running: Int32 = 0
        curl_multi_perform(handle, &running)
    }

    /// Waits for network activity, ``wakeUp()`` or the end of the time.
    func wait(for time: Duration) {
        curl_multi_poll(handle, nil, 0, Int32(clamping: Milliseconds(time).rawValue), nil)
    }

    /// The next transfer that has ended, each reported once.
    func nextEnded() -> CurlEasy? {
        var rest: Int32 = 0
        while let message = curl_multi_info_read(handle, &rest)?.pointee {
            guard message.msg == CURLMSG_DONE, let ended = message.easy_handle, let easy = CurlEasy.of(ended) else { continue }
            easy.status = message.data.result
            return easy
        }
        return nil
    }
}

extension CURLMcode {
    fileprivate var text: String { curl_multi_strerror(self).map { String(cString: $0) } ?? "libcurl's error \(rawValue)" }
}

/// libcurl's global initialisation, once in a process; whether it has succeeded.
private let curlIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

/// A libcurl multi handle with its connections, which are abandoned together once one of them is silent.
///
/// libcurl sends new requests over an open HTTP/2 connection even if the server no longer answers on it. A connection can be dead
/// without a TCP reset, for example behind a firewall that has dropped its state. libcurl would use it until the kernel closes it
/// after a quarter of an hour, or for ever if a proxy takes the bytes. It cannot remove one connection from a multi handle. So new
/// requests get another handle with new connections.
///
/// The transport's thread owns it.
final class ConnectionSet {
    let multi: CurlMulti
    /// The number of transfers that libcurl works on.
    private(set) var transfers = 0
    private let silenceTimeout: Duration
    /// A set on which the host has never answered is abandoned only after this time: if the server itself hangs, new connections do
    /// not answer sooner.
    private let minAge: Duration
    private let opened: ContinuousClock.Instant
    private var hasAnswered = false
    private let hasManyHosts: Bool
    /// With many hosts: those that have answered.
    private var answeredHosts: Set<String> = []
    /// When each connection last answered, by its local port.
    private var lastAnswers: [Int32: ContinuousClock.Instant] = [:]

    /// The minimum silence that counts against a connection. In less time a request may have had no chance of an answer.
    private static let minSilence = Duration.seconds(1)
    /// Closed connections are forgotten when there are more than this many.
    private static let rememberedConnections = 32
    /// When more hosts have answered, all are forgotten.
    private static let rememberedHosts = 1_000

    init(_ configuration: CurlConfiguration) throws(TransportError) {
        multi = try CurlMulti(configuration)
        silenceTimeout = configuration.silenceTimeout
        minAge = configuration.requestTimeout
        hasManyHosts = configuration.hasManyHosts
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
        if hasManyHosts {
            if answeredHosts.count >= Self.rememberedHosts { answeredHosts = [] }
            answeredHosts.insert(easy.origin)
        }
        lastAnswers[easy.localPort] = now
    }

    /// Whether new requests must use new connections, because this transfer's connection has answered no request for a while.
    ///
    /// - Parameter isTooLate: Whether the transfer times out now. Then a shorter silence is sufficient.
    func shouldAbandon(for easy: CurlEasy, isTooLate: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard let sentAt = easy.sentAt, hasHostAnswered(easy) || now - opened >= minAge else { return false }
        let silence = now - max(sentAt, lastAnswers[easy.localPort] ?? sentAt)
        return silence >= (isTooLate ? min(Self.minSilence, silenceTimeout) : silenceTimeout)
    }

    /// Whether a transfer's host has answered on these connections.
    private func hasHostAnswered(_ easy: CurlEasy) -> Bool {
        hasManyHosts ? answeredHosts.contains(easy.origin) : hasAnswered
    }

    /// Forgets connections that are closed or silent.
    func forgetOldAnswers(at now: ContinuousClock.Instant) {
        guard lastAnswers.count > Self.rememberedConnections else { return }
        lastAnswers = lastAnswers.filter { now - $0.value < silenceTimeout }
    }
}
