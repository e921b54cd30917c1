import HTTPTypes
import Hummingbird
import Base
import NIOCore

/// The answer of a route's handler: a document and its headers. The status is the one that the route declares, unless the handler
/// names another.
struct Answer<Value: Encodable & Sendable> {
    /// The declaration of an answer.
    struct Form: Sendable {
        let status: HTTPResponse.Status
        /// The body's type if it is not JSON.
        var mediaType: String?

        static func ok(_ document: Value.Type) -> Form { Form(status: .ok) }
        static func created(_ document: Value.Type) -> Form { Form(status: .created) }
    }

    private enum Content {
        case value(Value)
        /// The document's JSON.
        case encoded(ByteBuffer)
        /// The JSON of a document that many answers share.
        case shared(SharedBody)
        /// A body of another type than JSON, which the headers name.
        case body(ResponseBody)
        case none
    }

    private let content: Content
    private let status: HTTPResponse.Status?
    var headers: HTTPFields

    private init(_ content: Content, status: HTTPResponse.Status?, headers: HTTPFields) {
        self.content = content
        self.status = status
        self.headers = headers
    }

    /// - Parameter status: `nil` for the declared one.
    init(_ value: Value, status: HTTPResponse.Status? = nil, headers: HTTPFields = [:]) {
        self.init(.value(value), status: status, headers: headers)
    }

    /// - Parameter json: The document, encoded.
    init(json: ByteBuffer, headers: HTTPFields = [:]) {
        self.init(.encoded(json), status: nil, headers: headers)
    }

    /// - Parameter document: The document, encoded.
    init(shared document: SharedBody, headers: HTTPFields = [:]) {
        self.init(.shared(document), status: nil, headers: headers)
    }

    /// - Parameters:
    ///   - body: The answer's body, such as one that is made while it is sent.
    ///   - status: `nil` for the declared one.
    init(body: ResponseBody, status: HTTPResponse.Status? = nil, headers: HTTPFields) {
        self.init(.body(body), status: status, headers: headers)
    }

    /// 304: the caller has the document already.
    static func notModified(headers: HTTPFields) -> Answer {
        Answer(.none, status: .notModified, headers: headers)
    }

    /// A redirection to another path.
    static func redirect(_ status: HTTPResponse.Status, to location: String) -> Answer {
        Answer(.none, status: status, headers: [.location: location])
    }

    /// 204: a success whose document the caller may not see.
    static var noContent: Answer { Answer(.none, status: .noContent, headers: [:]) }

    /// - Parameters:
    ///   - declared: The status that the route declares.
    ///   - coding: Whether the client and the route allow to compress it.
    ///   - channel: The request's connection.
    func response(
        status declared: HTTPResponse.Status, _ coding: AnswerCoding, on channel: any NIOCore.Channel
    ) async throws -> Response {
        let status = status ?? declared
        var headers = headers
        // Those that are added on the way to the client.
        headers.reserveCapacity(headers.count + 8)
        switch content {
        case .value(let value):
            let json = ByteBuffer(bytes: try JSONCoder.encode(value))
            return await .json(
                json, status: status, headers: headers, coding, compressed: { await Gzip.compressed(json) }, on: channel)
        case .encoded(let json):
            return await .json(
                json, status: status, headers: headers, coding, compressed: { await Gzip.compressed(json) }, on: channel)
        case .shared(let document):
            return await .json(
                document.plain, status: status, headers: headers, coding, compressed: document.compressed, on: channel)
        case .body(let body): return Response(status: status, headers: headers, body: body)
        case .none:
            if status == .notModified { coding.changeUnchanged(&headers) }
            return Response(status: status, headers: headers)
        }
    }
}

/// The document of an answer without a body.
struct NoContent: Encodable, Sendable {}

extension Answer where Value == NoContent {
    /// An answer without a body.
    init(headers: HTTPFields = [:]) {
        self.init(.none, status: nil, headers: headers)
    }
}

extension Answer.Form where Value == NoContent {
    static var noContent: Answer<NoContent>.Form { .init(status: .noContent) }

    /// An answer that is not JSON.
    ///
    /// - Parameter mediaType: Its `Content-Type` without parameters.
    static func ok(_ mediaType: String) -> Answer<NoContent>.Form { .init(status: .ok, mediaType: mediaType) }
}
