public import FoundationEssentials
import Base

/// HTTP to the hub's gateway. The platform adds the gateway's address and TLS.
public protocol HubConnection: Sendable {
    /// It ends when the task is cancelled: the app waits for at most half a minute.
    ///
    /// - Throws: If there was no answer. An answer of any status is returned.
    func answer(to request: HubRequest) async throws -> HubAnswer
}

/// A request to the gateway.
public struct HubRequest: Hashable, Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public let method: Method
    /// The path with the query.
    public let path: String
    /// Such as `If-None-Match`. Those of a person's requests have the secret `Authorization`, which belongs into no log.
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

/// Why the app got no document from the hub.
public enum HubFailure: Error, Hashable, Sendable {
    /// The gateway's status, which is no success.
    case refused(status: Int, path: String)
    /// The answer is not the expected document.
    case unreadable(_ path: String)
}

extension HubConnection {
    /// - Throws: ``HubFailure``, or the error of the connection.
    func document(of request: HubRequest) async throws -> JSONValue {
        let answer = try await answer(to: request)
        guard (200..<300).contains(answer.status) else { throw HubFailure.refused(status: answer.status, path: request.path) }
        guard let document = try? JSONValue(parsing: answer.body) else { throw HubFailure.unreadable(request.path) }
        return document
    }
}

/// Ends requests that the hub does not answer in time, even in the middle of an answer, so that the app asks again.
struct TimedHub: HubConnection {
    let hub: any HubConnection
    let clock: any DeviceClock

    static let limit = Duration.seconds(30)

    func answer(to request: HubRequest) async throws -> HubAnswer {
        try await clock.within(Self.limit) { [hub] in try await hub.answer(to: request) }
    }
}
