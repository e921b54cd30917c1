package import AsyncHTTPClient
package import FoundationEssentials
package import Base
package import NIOCore
package import NIOHTTP1

/// An HTTP server's answer.
package struct HTTPAnswer: Sendable, CustomStringConvertible {
    package let status: Int
    package let version: HTTPVersion
    package let headers: HTTPHeaders
    package let body: Data

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    ///
    /// - Throws: `JSONSyntaxError` if it is not JSON.
    package var json: JSONValue {
        get throws { try JSONValue(parsing: body) }
    }

    /// The values of a header field, joined as RFC 9110, section 5.3 allows.
    package subscript(header: String) -> String? {
        let values = headers[header]
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    package var description: String { "\(status) \(String(decoding: body.prefix(500), as: UTF8.self))" }
}

extension HTTPClient {
    /// Makes a request, and reads the whole answer.
    package func answer(
        _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data? = nil, within timeout: TimeAmount
    ) async throws -> HTTPAnswer {
        try await answer(
            method, url, headers: HTTPHeaders(headers.map { ($0.key, $0.value) }), body: body, within: timeout)
    }

    /// Makes a request whose headers may have the same name several times, and reads the whole answer.
    package func answer(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders, body: Data? = nil, within timeout: TimeAmount
    ) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = headers
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await executed(request, within: timeout)
        let content = try await response.body.collect(upTo: 256 << 20)
        return HTTPAnswer(
            status: Int(response.status.code), version: response.version, headers: response.headers,
            body: Data(content.readableBytesView))
    }

    /// On a busy machine, a kept connection may end between the moment when the client takes it and the one when it writes. Such a request
    /// was not sent.
    private func executed(_ request: HTTPClientRequest, within timeout: TimeAmount) async throws -> HTTPClientResponse {
        do {
            return try await execute(request, timeout: timeout)
        } catch ChannelError.ioOnClosedChannel {
            return try await execute(request, timeout: timeout)
        }
    }
}
