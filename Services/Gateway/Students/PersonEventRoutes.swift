import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// `GET /user/events`: what happens to a person, as server-sent events for an open app.
struct PersonEventRoutes: Feature {
    let hub: PersonEventHub
    /// Those of all streams.
    let limits: StreamLimits

    var background: [any Service] { [hub] }

    var section: APISection {
        APISection("Students' events", "For an app in the foreground. In the background, pushes tell it.")
    }

    var routes: [Route] {
        [
            Route(.get, "/user/events", right: .person, answer: .eventStream, events)
                .documented(
                    "Follow what happens to oneself",
                    "Server-sent events: `person` (`kind` says what has changed: `account`, `devices`, `profile`, `friends`, `requests` or "
                        + "`preferences`, and `id` which, if it is one: fetch it), `reset` (events may be missing: fetch everything), and "
                        + "`alive` (every 4 seconds). The stream ends with its token; open it again with the next one. A device may have "
                        + "\(StreamLimits.maxPerDevice) streams, and an account \(StreamLimits.maxPerAccount).",
                    headers: [.lastEventID])
        ]
    }

    private func events(_ call: PersonCall<NoBody>) async throws -> Answer<ServerSentEvents> {
        let (person, lastEventID) = (call.principal, call.request.headers[.lastEventID])
        let place = try limits.takePlace(for: StreamHolder(person))
        return Answer(
            events: .stream(to: call, in: place) { [hub] queue in
                let id = hub.open(queue, for: person, lastEventID: lastEventID)
                return { hub.close(id) }
            })
    }
}
