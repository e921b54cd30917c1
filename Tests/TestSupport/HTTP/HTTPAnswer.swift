package import AsyncHTTPClient
package import FoundationEssentials
package import JSON
package import NIOCore
package import NIOHTTP1

/// An HTTP server's answer.
package struct HTTPAnswer: Sendable, CustomStringConvertible {
    package let status: Int
    package let headers: HTTPHeaders
    package let body: Data

    /// The body as JSON.
    ///
    /// - Throws: `JSONSyntaxError` if it is not JSON.
    package var json: JSONValue {
        get throws { try JSONValue(parsing: body) }
    }

    package subscript(header: String) -> String? { headers.first(name: header) }

    package var description: String { "\(status) \(String(decoding: body.prefix(500), as: UTF8.self))" }
}

extension HTTPClient {
    /// Sends a request and reads the whole answer.
    package func answer(
        _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data? = nil, within limit: TimeAmount
    ) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await execute(request, timeout: limit)
        let content = try await response.body.collect(upTo: 256 << 20)
        return HTTPAnswer(status: Int(response.status.code), headers: response.headers, body: Data(content.readableBytesView))
    }
}
