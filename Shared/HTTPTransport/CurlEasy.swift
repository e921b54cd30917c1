import CCurl
import FoundationEssentials
import Glibc
import Base
import ServiceKit

/// libcurl's easy handle. It carries one transfer at a time and is reused. The transport's thread owns it.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    /// The current transfer.
    var carried: Transfer?
    /// The connections that carry it while libcurl works on it.
    var connections: ConnectionSet?
    /// When its request went to a connection; `nil` while it waits for one.
    fileprivate(set) var sentAt: ContinuousClock.Instant?
    /// The local port of that connection, which identifies it.
    fileprivate(set) var localPort: Int32 = 0
    /// libcurl's result of the transfer, once it has ended.
    var status = CURLE_OK
    private let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The URL and the headers that are set. Most requests have the same ones as the previous request.
    private var url = ""
    private let parsedURL: OpaquePointer
    private var lines: [String] = []
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// The request's body. libcurl reads it here until the transfer has ended: it sends the bytes again if the server has not
    /// processed the request.
    private var posted = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var isGet = false
    /// The scheme, the host and the port of the URL; empty unless there are many hosts.
    private(set) var origin = ""
    private let hasManyHosts: Bool
    private var scope = ServerScope.all
    /// Whether the URL is not one of `https`.
    private var isPlain = false
    /// The address that is outside the request's scope, if there was one.
    private var refusedAddress: String?
    private let maxBodyBytes: Int
    private var body = Data()
    private var isBodyTooLong = false

    /// The maximum buffer that a handle keeps for later bodies, in bytes. A message needs less.
    private static let maxPostedKept = 16_384

    /// Makes a handle with the options that all requests share.
    init(_ configuration: CurlConfiguration) throws(TransportError) {
        guard let handle = curl_easy_init(), let parsedURL = curl_url() else {
            throw TransportError(.other, "libcurl has no memory for a request")
        }
        self.handle = handle
        self.parsedURL = parsedURL
        maxBodyBytes = configuration.maxBodyBytes
        hasManyHosts = configuration.hasManyHosts
        errorText.initialize(repeating: 0)
        do {
            try setUp(configuration)
        } catch {
            close()
            throw error
        }
    }

    private func setUp(_ configuration: CurlConfiguration) throws(TransportError) {
        try set(CURLOPT_PROTOCOLS_STR, "https")
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Wait for a connection that is being made, instead of making another one.
        try set(CURLOPT_PIPEWAIT, 1)
        if !environmentNamesProxy { try set(CURLOPT_PROXY, "") }
        try set(CURLOPT_NOSIGNAL, 1)
        // libcurl resolves names on a thread. Without this option, a transfer that ends before the resolver is done would block
        // until the resolver's thread ends.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_POST, 1)
        try set(CURLOPT_USERAGENT, configuration.userAgent)
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: Milliseconds(configuration.connectTimeout).rawValue))
        try set(CURLOPT_MAXAGE_CONN, Int(clamping: configuration.idleTimeout.components.seconds))
        try set(CURLOPT_MAXLIFETIME_CONN, Int(clamping: configuration.maxConnectionAge.components.seconds))
        try setUpKeepAlive(configuration)
        if let file = configuration.certificateAuthorityFile {
            try set(CURLOPT_CAINFO, file)
            // Instead of the system's certificates, not in addition.
            try check(ccurl_easy_setopt_string(handle, CURLOPT_CAPATH, nil))
        }
        // Requests and answers have a few hundred bytes. libcurl's defaults are for files: 64 and 16 KiB a request.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16_384)
        try set(CURLOPT_BUFFERSIZE, 4_096)
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque()))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText.baseAddress))
        try check(ccurl_easy_setopt_write_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque()))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(self).toOpaque()))
        try check(ccurl_easy_setopt_request_callback(handle, CURLOPT_PREREQFUNCTION, noteRequest))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_PREREQDATA, Unmanaged.passUnretained(self).toOpaque()))
    }

    /// Lets the kernel detect a peer that has disappeared without closing the connection.
    private func setUpKeepAlive(_ configuration: CurlConfiguration) throws(TransportError) {
        let seconds = Int(clamping: configuration.keepAliveInterval.components.seconds)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_KEEPIDLE, seconds)
        try set(CURLOPT_TCP_KEEPINTVL, max(1, seconds / 3))
        // The callback's argument is a number in place of a pointer.
        let timeout = Int(clamping: Milliseconds(configuration.acknowledgementTimeout).rawValue)
        try check(ccurl_easy_setopt_socket_callback(handle, CURLOPT_SOCKOPTFUNCTION, setAcknowledgementTimeout))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_SOCKOPTDATA, UnsafeMutableRawPointer(bitPattern: timeout)))
    }

    /// The object of a libcurl handle.
    static func of(_ handle: UnsafeMutableRawPointer) -> CurlEasy? {
        var pointer: UnsafeMutableRawPointer?
        guard ccurl_easy_getinfo_pointer(handle, CURLINFO_PRIVATE, &pointer) == CURLE_OK, let pointer else { return nil }
        return Unmanaged<CurlEasy>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Frees the handle, which must not be in a multi handle.
    func close() {
        curl_easy_cleanup(handle)
        curl_url_cleanup(parsedURL)
        curl_slist_free_all(headers)
        errorText.deallocate()
        posted.deallocate()
    }

    /// Prepares it for a request.
    func prepare(_ request: HTTPTransportRequest) throws(TransportError) {
        body = Data()
        isBodyTooLong = false
        sentAt = nil
        errorText[0] = 0
        refusedAddress = nil
        try prepare(scope: request.scope)
        try prepare(url: request.url)
        try prepare(method: request.body)
        try prepare(headers: request.headers)
    }

    private func prepare(method body: Data?) throws(TransportError) {
        guard let body else {
            if !isGet { try set(CURLOPT_HTTPGET, 1) }
            return isGet = true
        }
        if isGet { try set(CURLOPT_POST, 1) }
        isGet = false
        try prepare(body: body)
    }

    private func prepare(body: Data) throws(TransportError) {
        // Grows the buffer, and shrinks it after a large request, such as one for a thousand phones.
        if posted.count < body.count || posted.count > max(body.count, Self.maxPostedKept) || posted.baseAddress == nil {
            posted.deallocate()
            posted = .allocate(byteCount: max(body.count, 1_024), alignment: 16)
        }
        _ = body.copyBytes(to: posted)
        try check(ccurl_easy_setopt_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_POSTFIELDS, posted.baseAddress))
    }

    /// Sets the parsed URL. With a text libcurl would parse it for every request.
    private func prepare(url newURL: String) throws(TransportError) {
        if newURL == url { return }
        url = ""
        let status = curl_url_set(parsedURL, CURLUPART_URL, newURL, 0)
        guard status == CURLUE_OK else { throw TransportError(.other, String(cString: curl_url_strerror(status))) }
        // This also clears the state of the previous URL.
        try check(ccurl_easy_setopt_string(handle, CURLOPT_URL, nil))
        try check(ccurl_easy_setopt_pointer(handle, CURLOPT_CURLU, UnsafeMutableRawPointer(parsedURL)))
        url = newURL
        isPlain = !newURL.prefix(6).lowercased().hasPrefix("https:")
        if hasManyHosts { origin = newURL.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//") }
    }

    private func prepare(scope newScope: ServerScope) throws(TransportError) {
        if newScope == scope { return }
        try set(CURLOPT_PROTOCOLS_STR, newScope == .allAndPlainLoopback ? "http,https" : "https")
        if newScope == .all {
            // libcurl opens the socket itself.
            try check(ccurl_easy_setopt_open_socket_callback(handle, CURLOPT_OPENSOCKETFUNCTION, nil))
        } else {
            try check(ccurl_easy_setopt_open_socket_callback(handle, CURLOPT_OPENSOCKETFUNCTION, openSocketWithinScope))
        }
        scope = newScope
    }

    /// Whether the request may be sent to an address. If not, the outcome is an error that names it.
    ///
    /// - Parameter address: `nil` for one of another family than IP.
    fileprivate func mayUse(_ address: @autoclosure () -> IPAddress?) -> Bool {
        guard scope != .all else { return true }
        let address = address()
        let isWithin =
            switch scope {
            case .all: true
            case .publicAddresses: environmentNamesProxy || address?.isPublic ?? false
            case .allAndPlainLoopback: !isPlain || address?.isLoopback ?? false
            }
        if !isWithin { refusedAddress = address?.description ?? "of another kind" }
        return isWithin
    }

    private func prepare(headers newLines: [String]) throws(TransportError) {
        if newLines == lines { return }
        try check(ccurl_easy_setopt_list(handle, CURLOPT_HTTPHEADER, nil))
        curl_slist_free_all(headers)
        headers = nil
        lines = []
        for line in newLines {
            guard let longer = curl_slist_append(headers, line) else {
                throw TransportError(.other, "libcurl has no memory for a header")
            }
            headers = longer
        }
        try check(ccurl_easy_setopt_list(handle, CURLOPT_HTTPHEADER, headers))
        lines = newLines
    }

    /// The outcome of the transfer, which has ended.
    func outcome() -> HTTPTransportOutcome {
        if isBodyTooLong {
            return .failure(
                TransportError(.tooLarge, "the answer is longer than \(maxBodyBytes) bytes", mayHaveBeenProcessed: true))
        }
        guard status == CURLE_OK else { return .failure(refusal ?? error()) }
        var code = 0
        ccurl_easy_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &code)
        // Looking for a header takes as long as reading the answer, so it is done only for errors.
        let retryAfter = (200..<300).contains(code) ? nil : header("retry-after")
        let location = code == 201 ? header("location") : nil
        return .success(HTTPTransportResponse(status: code, retryAfter: retryAfter, location: location, body: body))
    }

    /// The error of a request whose server's address is outside its scope.
    private var refusal: TransportError? {
        // Another address of the server may have been used. Then the request has failed for another reason.
        guard let refusedAddress, [CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK].contains(status) else { return nil }
        return TransportError(
            .refusedAddress,
            "the server has the address \(refusedAddress), which is not \(isPlain ? "a loopback" : "a public") one")
    }

    /// Whether any part of the request has been sent.
    var hasBeenSent: Bool {
        var bytes = 0
        ccurl_easy_getinfo_long(handle, CURLINFO_REQUEST_SIZE, &bytes)
        return bytes > 0
    }

    private func error() -> TransportError {
        let detail = errorText.baseAddress.map { String(cString: $0) } ?? ""
        return TransportError(
            TransportError.Code(status), detail.isEmpty ? String(cString: curl_easy_strerror(status)) : detail,
            mayHaveBeenProcessed: hasBeenSent)
    }

    private func header(_ name: String) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK else { return nil }
        return found.map { String(cString: $0.pointee.value) }
    }

    /// - Returns: Whether there was room.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= maxBodyBytes else {
            isBodyTooLong = true
            return false
        }
        // Nearly all bodies come in one piece.
        if body.isEmpty { body = Data(bytes) } else { body.append(contentsOf: bytes) }
        return true
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(ccurl_easy_setopt_long(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(TransportError) {
        try check(ccurl_easy_setopt_string(handle, option, value))
    }

    private func check(_ status: CURLcode) throws(TransportError) {
        guard status == CURLE_OK else { throw TransportError(.other, String(cString: curl_easy_strerror(status))) }
    }
}

/// Whether the environment names a proxy for `https`. libcurl reads the environment for every request.
private let environmentNamesProxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { (name: String) in
    // libcurl takes an empty one for none.
    getenv(name).map { $0.pointee != 0 } ?? false
}

/// libcurl's `CURLOPT_SOCKOPTFUNCTION`, called for each new socket.
private nonisolated func setAcknowledgementTimeout(
    _ milliseconds: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
    var timeout = UInt32(clamping: Int(bitPattern: milliseconds))
    // A system without this option uses its own, longer timeout.
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, socklen_t(MemoryLayout.size(ofValue: timeout)))
    return CURL_SOCKOPT_OK
}

/// libcurl's `CURLOPT_OPENSOCKETFUNCTION`, called for each address that libcurl connects to.
private nonisolated func openSocketWithinScope(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return -1 }
    let easy = Unmanaged<CurlEasy>.fromOpaque(context).takeUnretainedValue()
    guard easy.mayUse(IPAddress(address)) else { return -1 }
    return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
}

/// libcurl's `CURLOPT_PREREQFUNCTION`, called before a request is sent.
private nonisolated func noteRequest(
    _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32, _ localPort: Int32
) -> Int32 {
    guard let context else { return CURL_PREREQFUNC_ABORT }
    let easy = Unmanaged<CurlEasy>.fromOpaque(context).takeUnretainedValue()
    guard easy.mayUse(peer.flatMap { IPAddress(String(cString: $0)) }) else { return CURL_PREREQFUNC_ABORT }
    easy.sentAt = .now
    easy.localPort = localPort
    return CURL_PREREQFUNC_OK
}

/// libcurl's `CURLOPT_WRITEFUNCTION`. Any result but the number of bytes ends the transfer.
private nonisolated func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let easy = Unmanaged<CurlEasy>.fromOpaque(context).takeUnretainedValue()
    return easy.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

extension TransportError.Code {
    fileprivate init(_ status: CURLcode) {
        self =
            switch status {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY: .notReachable
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT:
                .tls
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM:
                .reset
            default: .other
            }
    }
}
