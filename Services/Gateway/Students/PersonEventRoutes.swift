import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas
import ServiceLifecycle

/// `GET /user/events`: what happens to a person, and in their classes, as server-sent events for an open app.
struct PersonEventRoutes: Feature {
    let hub: PersonEventHub
    /// Those of all streams.
    let limits: StreamLimits
    /// Knows who is in which class.
    let study: CommandClient

    /// How long a stream waits for the study service, without which it begins with no class.
    private static let studyTimeout = Duration.seconds(1)

    var background: [any Service] { [hub] }

    var section: APISection {
        APISection("Students' events", "For an app in the foreground. In the background, pushes tell it.")
    }

    var routes: [Route] {
        [
            Route(.get, "/user/events", right: .person, query: PersonEventQuery.self, answer: .eventStream, events)
                .documented(
                    "Follow what happens to oneself",
                    """
                    Server-sent events: `person` (`kind` says what has changed: `account`, `devices`, `profile`, `friends`, \
                    `requests`, `preferences`, `classes`, `session` or `invites`, and `id` which, if it is one: fetch it), `class` \
                    (something has changed in the class `class`: `kind` is `sessions` or `posts`, of the session `session`), \
                    `reset` (events may be missing: fetch everything, or if it names a `service`, `people` or `study`, what is of \
                    that one), and `alive` (every 4 seconds). The stream ends with its token; open it again with the next one. It \
                    has the events of those `classes` in which one is. After `person` of the kind `classes` it has none of them: \
                    open another one. A device may have \(StreamLimits.maxPerDevice) streams, and an account \
                    \(StreamLimits.maxPerAccount).
                    """,
                    headers: [.lastEventID])
        ]
    }

    private func events(_ call: PersonCall<NoBody>, _ query: PersonEventQuery) async throws -> Answer<ServerSentEvents> {
        let (person, lastEventID) = (call.principal, call.request.headers[.lastEventID])
        let place = try limits.takePlace(for: StreamHolder(person))
        let classes = await followed(query.classes?.ids ?? [], by: call)
        return Answer(
            events: .stream(to: call, in: place) { [hub] queue in
                let id = hub.open(queue, for: person, lastEventID: lastEventID, classes: classes)
                return { hub.close(id) }
            })
    }

    /// Those of the wanted classes in which the person is. While the study service is away, there are none.
    private func followed(_ wanted: Set<ObjectID>, by call: PersonCall<NoBody>) async -> FollowedClasses? {
        guard !wanted.isEmpty else { return nil }
        let position = hub.position
        let own = try? await study.request(ListClasses(), timeout: Self.studyTimeout, context: call.caller)
        let ids = Set((own?.classes ?? []).map(\.id))
        return FollowedClasses(ids: wanted.intersection(ids), position: position)
    }
}

/// The parameters of `GET /user/events`.
struct PersonEventQuery: Decodable {
    /// The classes that the app shows.
    let classes: ClassIDs?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case classes
    }
}

extension PersonEventQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        ["properties": ["classes": ["description": "The classes to follow, separated by commas."]]]
    }
}
