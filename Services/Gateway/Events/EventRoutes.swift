import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// `GET /events`: live events, as server-sent events.
struct EventRoutes: Feature {
    let hub: EventHub
    let limits: StreamLimits

    /// Follows the services.
    var background: [any Service] { [hub] }

    var section: APISection {
        APISection("Live events", "What changes, as it happens, instead of asking again and again.")
    }

    var routes: [Route] {
        [
            Route(.get, "/events", right: .signedIn, answer: .eventStream, events)
                .documented(
                    "Follow what happens",
                    "Server-sent events, for a browser's `EventSource`: `message` (a message was sent or has another state), `cube` (the "
                        + "cube has another version), `health` (the answer of `GET /health` has changed), and `reset` (events may be "
                        + "missing: read the lists again).",
                    headers: [.lastEventID])
        ]
    }

    private func events(_ call: Call<NoBody>) async throws -> Answer<ServerSentEvents> {
        let context = call.context
        let request = call.request
        let place = try limits.takePlace(for: call.principal)
        let rights = try await hub.access.rights(of: context.principal)
        return Answer(
            events: ResponseBody { writer in
                defer { withExtendedLifetime(place) {} }
                let queue = EventStreamQueue(on: context.channel)
                let id = await hub.open(queue, with: rights, lastEventID: request.headers[.lastEventID])
                defer { hub.close(id) }
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    try await withGracefulShutdownHandler {
                        while let bytes = await queue.next() { try await writer.write(bytes) }
                    } onGracefulShutdown: {
                        queue.finish()
                    }
                }
                try await writer.finish(nil)
            })
    }
}
