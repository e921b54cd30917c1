import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// The answer of a route's handler: a document and its headers. The status is the declared one, unless the handler names another.
struct Answer<Value: Encodable & Sendable> {
    /// The declaration of an answer.
    struct Form: Sendable {
        let status: HTTPResponse.Status

        static func ok(_ document: Value.Type) -> Form { Form(status: .ok) }
        static func created(_ document: Value.Type) -> Form { Form(status: .created) }
    }

    private enum Content {
        case value(Value)
        /// The document's JSON.
        case encoded(Data)
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
    init(json: Data, headers: HTTPFields = [:]) {
        self.init(.encoded(json), status: nil, headers: headers)
    }

    /// 304: the caller has the document already.
    static func notModified(headers: HTTPFields) -> Answer {
        Answer(.none, status: .notModified, headers: headers)
    }

    /// - Parameters:
    ///   - declared: The status that the route declares.
    ///   - channel: The request's connection.
    func response(status declared: HTTPResponse.Status, on channel: any NIOCore.Channel) throws -> Response {
        let status = status ?? declared
        return switch content {
        case .value(let value): .json(try JSONCoder.encode(value), status: status, headers: headers, on: channel)
        case .encoded(let json): .json(json, status: status, headers: headers, on: channel)
        case .none: Response(status: status, headers: headers)
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
}
