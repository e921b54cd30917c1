import HTTPRouting
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Schemas
import Synchronization

/// Answers the requests of a connection as Hummingbird's `Application` does, but without a logger for each of them: the trace tells the
/// requests apart in the log.
struct GatewayResponder<Routes: HTTPResponder>: Sendable where Routes.Context == GatewayContext {
    let routes: Routes
    private let logger: Logger
    private let date = DateField()

    init(_ routes: Routes, logger: Logger) {
        self.routes = routes
        self.logger = logger
    }

    @Sendable func respond(
        to request: Request, writer: consuming ResponseWriter, channel: any NIOCore.Channel
    ) async throws {
        let context = GatewayContext(source: .init(channel: channel, logger: logger))
        var response: Response
        do {
            response = try await routes.respond(to: request, context: context)
        } catch {
            logger.debug("a request failed", metadata: ["error": "\(error)"])
            response = Response(status: .internalServerError)
        }
        response.headers[.date] = date.text(at: .now)
        try await writer.write(response: response.head, body: response.body)
    }
}

/// The value of `Date`, made once a second.
private final class DateField: Sendable {
    private let latest = Mutex<(second: Int64, text: String)?>(nil)

    func text(at now: UnixMilliseconds) -> String {
        let second = now.rawValue / 1_000
        return latest.withLock { latest in
            if let latest, latest.second == second { return latest.text }
            let text = now.httpDate
            latest = (second, text)
            return text
        }
    }
}
