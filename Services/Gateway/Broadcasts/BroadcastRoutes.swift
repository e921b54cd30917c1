import Bus
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base
import Logging
import NIOCore
import Schemas
import ServiceKit
import ServiceLifecycle

/// Broadcasts at app launch over HTTP (seeds 001 and 004).
struct BroadcastRoutes: Feature {
    let service: BroadcastService
    private let cube: CubeService

    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(client: CommandClient, cube: CubeService, bus: Bus, settings: SettingValues, logger: Logger) throws {
        let version = try FollowedVersion<BroadcastsChanged>(
            bus: bus, endpoints: settings.value(.endpoints(of: .broadcast, .events)), logger: logger)
        service = BroadcastService(client: client, version: version, grace: Duration(try settings.value(.gatewayPeopleGrace)))
        self.cube = cube
    }

    var background: [any Service] { service.background }

    var section: APISection {
        APISection(
            "Broadcasts",
            "A broadcast is what every phone shows when its app is started, such as a downtime or a greeting, or what switches a "
                + "feature of the app on or off for some phones. Bodies may also have the seeds' earlier forms: with `actiontype` "
                + "`display` or `non-display`, or with `relative`, `poster` and `translations` at the top. Empty texts count as absent, "
                + "except where they would change who gets it."
        )
    }

    var routes: [Route] { [list, add, active, features, read, form, update, withdraw] }

    // MARK: Phones

    private var active: Route {
        Route(.get, "/broadcast/active", right: .anonymous, unread: ChannelsQuery.self, answer: .ok(ActiveBroadcasts.self)) {
            call, query in
            let answer = try await service.answer(to: query).active
            return Answer(json: answer.json, tag: answer.tag, for: call.request)
        }.documented(
            "What phones show now",
            "The active broadcasts for every phone, those of the named channels, and those with a condition, which the phone checks. "
                + "`withdrawn` names broadcasts of which every version up to the named one is over. Phones ask at the start, since FCM "
                + "brings nothing that was sent before they have joined.",
            headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)]
        ).counted(as: .phones)
    }

    private var features: Route {
        Route(.get, "/broadcast/features", right: .anonymous, unread: ChannelsQuery.self, answer: .ok(FeatureSwitches.self)) {
            call, query in
            let answer = try await service.answer(to: query).features
            return Answer(json: answer.json, tag: answer.tag, for: call.request)
        }.documented(
            "Which features are switched",
            "The features that active broadcasts switch on or off. Of several about one feature the last one that applies to a phone "
                + "counts. `share` is a percentage of phones, the same ones for every broadcast about the feature.",
            headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)]
        ).counted(as: .phones)
    }

    // MARK: The log

    /// One page of the log.
    struct BroadcastPage: Codable, Sendable {
        let items: [Broadcast]
        /// The default language, in which every broadcast that is shown must have texts.
        let language: String
        /// How many bytes a broadcast may have for FCM, with all languages.
        let limit: Int
        /// The path of the next page, which is also sent in the header `Link`. The last page has none.
        let next: String?
    }

    private struct ListQuery: Decodable, Checked {
        let limit: Int?
        let after: String?
        let state: Broadcast.State?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case limit, after, state
        }

        func check() throws(SchemaViolation) {
            try ListBroadcasts.limits.check(limit, CodingKeys.limit)
        }
    }

    private var list: Route {
        Route(.get, "/broadcast", right: .administer, query: ListQuery.self, answer: .ok(BroadcastPage.self)) { call, query in
            let limit = query.limit ?? 50
            let page = try await service.client.request(
                ListBroadcasts(limit: limit, after: query.after, state: query.state), context: call.caller)
            let next = page.next.map { call.request.nextPage("/broadcast", limit: Int64(limit), ("after", $0)) }
            let now = UnixMilliseconds.now
            let json = try JSONCoder.encode(
                BroadcastPage(
                    items: page.broadcasts.map { $0.withState(at: now) }, language: page.language, limit: page.limit, next: next))
            var answer = Answer<BroadcastPage>(json: ByteBuffer(bytes: json), tag: json.entityTag, for: call.request)
            if let next { answer.headers[.link] = "<\(next)>; rel=\"next\"" }
            return answer
        }.documented(
            "List the broadcasts",
            "The newest one comes first; withdrawn and expired ones stay in the list. A page with `state` may have fewer than `limit`, "
                + "or none: follow `next` until it is missing.",
            headers: [.ifNoneMatch], answerHeaders: [.eTag, .nextPage], also: [AnswerForm(.notModified)])
    }

    private var add: Route {
        Route(.post, "/broadcast", right: .administer, body: BroadcastBody.self, answer: .created(Broadcast.self)) { call in
            let key = try call.request.idempotencyKey
            let added = try await change(call) { AddBroadcast($0, idempotencyKey: key) }
            return answer(added, headers: [.location: "/broadcast/\(added.id)"])
        }.documented(
            "Send a broadcast",
            "The answer comes after it is safely stored. Phones get it when it begins, by the topic `general`, by the topics of its "
                + "`channels` (their ids), or by its `condition`. After a 503, or no answer at all, repeat the request with the same "
                + "`Idempotency-Key`. All languages together must fit into one FCM message.",
            headers: [.idempotencyKey], answerHeaders: [.eTag, .location], problems: [.conflict])
    }

    private static let identifier = ["id": Int64.self] as [String: any Route.Document.Type]

    private var read: Route {
        Route(.get, "/broadcast/:id", right: .administer, answer: .ok(Broadcast.self)) { call in
            answer(try await service.client.request(GetBroadcast(identifier(of: call)), context: call.caller))
        }.documented("Read a broadcast", path: Self.identifier, answerHeaders: [.eTag])
    }

    private var form: Route {
        Route(.get, "/broadcast/:id/:form", right: .administer, answer: .ok(JSONValue.self)) { call in
            guard let form = call.parameter("form").flatMap({ BroadcastForm(rawValue: $0) }) else {
                let forms = BroadcastForm.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(.invalidField, "form: expected one of \(forms)", field: "form")
            }
            let broadcast = try await service.client.request(GetBroadcast(identifier(of: call)), context: call.caller)
            return Answer(try broadcast.document(in: form))
        }.documented(
            "Read a broadcast in a form of the seeds",
            "Without what the hub adds. A feature switch has no form `display`, and any other broadcast no form `non-display`.",
            path: Self.identifier.merging(["form": BroadcastForm.self]) { $1 })
    }

    private var update: Route {
        Route(.put, "/broadcast/:id", right: .administer, body: BroadcastBody.self, answer: .ok(Broadcast.self)) { call in
            let id = try identifier(of: call)
            let known: Int64? = try call.unchangedSince(of: "the broadcast")
            return answer(
                try await call.unlessChanged {
                    try await change(call) { UpdateBroadcast(id, $0, unchangedSince: known) }
                })
        }.documented(
            "Edit a broadcast", "It becomes a new version, which phones show in place of the previous one.",
            path: Self.identifier,
            headers: [.ifMatch], answerHeaders: [.eTag], problems: [.conflict])
    }

    private var withdraw: Route {
        Route(.delete, "/broadcast/:id", right: .administer, answer: .ok(Broadcast.self)) { call in
            let id = try identifier(of: call)
            let known: Int64? = try call.unchangedSince(of: "the broadcast")
            return answer(
                try await call.unlessChanged {
                    try await service.change(WithdrawBroadcast(id, unchangedSince: known), for: call.caller)
                })
        }.documented(
            "Withdraw a broadcast", "Phones remove it. It stays in the log as `withdrawn`.", path: Self.identifier,
            headers: [.ifMatch], answerHeaders: [.eTag], problems: [.conflict])
    }

    private func answer(_ broadcast: Broadcast, headers: HTTPFields = [:]) -> Answer<Broadcast> {
        var answer = Answer(broadcast.withState(at: .now), version: broadcast.version)
        answer.headers.append(contentsOf: headers)
        return answer
    }

    private func identifier(of call: Call<some Sendable>) throws -> Int64 {
        let text = call.parameter("id") ?? ""
        guard !text.isEmpty, text.drop(while: { $0 == "-" }).allSatisfy({ $0.isASCII && $0.isNumber }) else {
            throw Problem(.invalidField, "id: expected an integer", field: "id")
        }
        guard let id = Int64(text), BroadcastDraft.ids.contains(id) else {
            throw Problem(.notFound, "no broadcast \(text.prefix(40))")
        }
        return id
    }

    /// Makes a change with the body, which is in any form of the seeds. Errors name the field as the body has it.
    private func change<C: Command>(
        _ call: Call<BroadcastBody>, _ command: (BroadcastDraft) -> C
    ) async throws -> Broadcast where C.Reply == RevisedBroadcast {
        let written = try WrittenBroadcast(try await RequestBody.bytes(of: call.request))
        if let channels = written.draft.channels {
            let known = Set(try await cube.current().channels.map(\.id))
            for (position, channel) in channels.enumerated() where !known.contains(channel) {
                throw written.renamed(
                    SchemaViolation(field: "channels[\(position)]", problem: "there is no channel \(channel)"))
            }
        }
        do {
            return try await service.change(command(written.draft), for: call.caller)
        } catch let failure as CommandFailure where failure.field == "idempotency_key" {
            throw Problem(
                .idempotencyKeyReused, "Idempotency-Key: this key was used for another broadcast", field: "Idempotency-Key")
        } catch let failure as CommandFailure {
            throw written.renamed(failure)
        }
    }
}
