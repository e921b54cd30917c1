public import FoundationEssentials

/// HTTP to the hub's gateway. The platform adds the gateway's address and TLS.
public protocol HubConnection: Sendable {
    /// It ends when the task is cancelled: the app waits for at most half a minute.
    ///
    /// - Throws: If there was no answer. An answer of any status is returned.
    func answer(to request: HubRequest) async throws -> HubAnswer
}

/// A request to the gateway, without a sign-in.
public struct HubRequest: Hashable, Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    public let method: Method
    /// The path with the query.
    public let path: String
    /// Such as `If-None-Match`.
    public let headers: [String: String]
    /// JSON; empty for none.
    public let body: Data

    public init(_ method: Method, _ path: String, headers: [String: String] = [:], body: Data = Data()) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// The gateway's answer.
public struct HubAnswer: Hashable, Sendable {
    public let status: Int
    /// The validator of the document, if the answer has one.
    public let entityTag: String?
    public let body: Data

    public init(status: Int, entityTag: String? = nil, body: Data) {
        self.status = status
        self.entityTag = entityTag
        self.body = body
    }
}
