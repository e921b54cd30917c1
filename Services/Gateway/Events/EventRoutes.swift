import HTTPRouting
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
                        + "cube has another version), `health` (the answer of `GET /health` has changed), `reset` (events may be "
                        + "missing: read the lists again), and `alive` (every 4 seconds: a longer silence means that the gateway or the "
                        + "connection is gone).",
                    headers: [.lastEventID])
        ]
    }

    private func events(_ call: Call<NoBody>) async throws -> Answer<ServerSentEvents> {
        let lastEventID = call.request.headers[.lastEventID]
        let place = try limits.takePlace(for: StreamHolder(call.principal))
        let rights = try await hub.access.rights(of: call.principal)
        return Answer(
            events: .stream(to: call, in: place) { [hub] queue in
                let id = await hub.open(queue, with: rights, lastEventID: lastEventID)
                return { hub.close(id) }
            })
    }
}

extension ResponseBody {
    /// Writes the bytes of a stream's queue until either side ends the stream.
    ///
    /// - Parameters:
    ///   - place: Released at the end.
    ///   - open: Lets somebody fill the queue. It returns what closes the stream.
    static func stream<Identity>(
        to call: RouteCall<Identity, NoBody>, in place: StreamPlace,
        open: @escaping @Sendable (EventStreamQueue) async -> @Sendable () -> Void
    ) -> ResponseBody {
        let (channel, request) = (call.context.channel, call.request)
        return ResponseBody { writer in
            defer { withExtendedLifetime(place) {} }
            let queue = EventStreamQueue(on: channel)
            let close = await open(queue)
            defer { close() }
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await withGracefulShutdownHandler {
                    while let bytes = await queue.next() { try await writer.write(bytes) }
                } onGracefulShutdown: {
                    queue.finish()
                }
            }
            try await writer.finish(nil)
        }
    }
}

/// The answer of a route that sends events until either side closes (HTML standard, "Server-sent events").
struct ServerSentEvents: Encodable, Sendable {}

extension Answer.Form where Value == ServerSentEvents {
    static var eventStream: Self { Self(status: .ok, mediaType: ServerSentEvent.contentType) }
}

extension Answer where Value == ServerSentEvents {
    /// - Parameter body: Writes the events.
    init(events body: ResponseBody) {
        self.init(
            body: body,
            headers: [
                .contentType: ServerSentEvent.contentType, .cacheControl: "no-store",
                // nginx would collect events before it passes them on.
                .accelBuffering: "no",
                // When a stream is ended, its connection is as well. So it cannot be kept open by not reading.
                .connection: "close",
            ])
    }
}
