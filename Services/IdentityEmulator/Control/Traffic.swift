import Base
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import ServiceLifecycle
import Synchronization

/// How a provider's server answers instead of well: the body of `PUT /control/faults/:provider`. An empty one ends the fault.
struct Fault: Decodable, Checked, Hashable, Sendable {
    /// The answer's status. Without one, the request is answered as usual, after the delay.
    let status: Int?
    /// The answer's document, beside a status.
    let body: JSONValue?
    /// How long each request waits first, in milliseconds.
    let delay: Int64?
    /// Whether the connection is closed without an answer.
    let drop: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case status, body, delay, drop
    }

    func check() throws(SchemaViolation) {
        if let status { try (200...599).check(status, CodingKeys.status) }
        if let delay { try (0...60_000).check(delay, CodingKeys.delay) }
        if body != nil, status == nil { throw SchemaViolation(CodingKeys.status, "missing beside a body") }
    }
}

/// The requests that servers make to the providers: counted by their paths, and answered by the faults. The pages at which people sign in
/// have no faults.
final class Traffic: Sendable {
    private struct State {
        var faults: [Provider: Fault] = [:]
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())

    func set(_ fault: Fault, of provider: Provider) {
        state.withLock { $0.faults[provider] = fault }
    }

    /// The numbers of requests by their paths.
    var counts: JSONValue {
        .object(state.withLock(\.counts).sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })
    }

    /// Answers a request to a provider's server.
    func answer(
        _ request: Request, _ context: EmulatorRequestContext, of provider: Provider, _ body: () async throws -> Response
    ) async throws -> Response {
        let fault = state.withLock { state in
            state.counts[request.uri.path, default: 0] += 1
            return state.faults[provider]
        }
        if let delay = fault?.delay {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(delay)) }
        }
        if fault?.drop == true {
            try? await context.channel.close()
            // Nobody gets it.
            return Response(.internalServerError, [:])
        }
        guard let status = fault?.status else { return try await body() }
        return Response(HTTPResponse.Status(code: status), fault?.body ?? [:])
    }
}
