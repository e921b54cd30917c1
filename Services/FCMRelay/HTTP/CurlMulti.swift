import CCurl
import Time

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
        // Idle connections to FCM, and one to the token endpoint, stay open.
        set(CURLMOPT_MAXCONNECTS, configuration.connectionsPerHost + 1)
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
