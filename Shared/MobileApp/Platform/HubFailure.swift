import FoundationEssentials
import JSON

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
