import CommandBus
import HTTPTypes
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle

/// The information cube over HTTP (seed, "REST API": Channel, Area, Subject).
///
/// Each answer carries the cube's version as its entity tag. With `If-None-Match` an unchanged cube is not sent again. With
/// `If-Match` an edit or a deletion is refused if its object was changed after that version.
struct CubeRoutes: Feature {
    let service: CubeService
    private let version: FollowedVersion<CubeChanged>

    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(client: CommandClient, bus: Bus, settings: SettingValues, logger: Logger) throws {
        version = try FollowedVersion(
            bus: bus, endpoints: settings.value(.endpoints(of: .cube, .events)), logger: logger)
        service = CubeService(client: client, version: version)
    }

    /// Follows the cube's version.
    var background: [any Service] { [version] }

    var routes: [Route] { [list] + channel + area + subject }

    private var list: Route {
        Route(.get, "/channel", right: .read, answer: .ok([Channel].self)) { call in
            let copy = try await service.current()
            return Answer(json: copy.json, version: copy.version, for: call.request)
        }
    }

    private var channel: [Route] {
        [
            Route(.post, "/channel", right: .administer, body: NamedDraft.self, answer: .created(Channel.self)) { call in
                try await add(AddChannel(channel: call.body()), for: call)
            },
            Route(.put, "/channel/:channelID", right: .administer, body: NamedDraft.self, answer: .ok(Channel.self)) { call in
                try await update(
                    UpdateChannel(
                        channelID: call.identifier("channelID"), channel: call.body(), unchangedSince: call.unchangedSince),
                    for: call)
            },
            Route(.delete, "/channel/:channelID", right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteChannel(channelID: call.identifier("channelID"), unchangedSince: call.unchangedSince), for: call)
            },
        ]
    }

    private var area: [Route] {
        let one = "/area/:channelID/:areaID"
        return [
            Route(.post, "/area/:channelID", right: .administer, body: NamedDraft.self, answer: .created(Area.self)) { call in
                try await add(AddArea(channelID: call.identifier("channelID"), area: call.body()), for: call)
            },
            Route(.put, one, right: .administer, body: NamedDraft.self, answer: .ok(Area.self)) { call in
                try await update(
                    UpdateArea(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"), area: call.body(),
                        unchangedSince: call.unchangedSince),
                    for: call)
            },
            Route(.delete, one, right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteArea(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        unchangedSince: call.unchangedSince),
                    for: call)
            },
        ]
    }

    private var subject: [Route] {
        let all = "/subject/:channelID/:areaID"
        let one = "/subject/:channelID/:areaID/:subjectID"
        return [
            Route(.post, all, right: .administer, body: SubjectDraft.self, answer: .created(Subject.self)) { call in
                try await add(
                    AddSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"), subject: call.body()),
                    for: call)
            },
            Route(.put, one, right: .administer, body: SubjectDraft.self, answer: .ok(Subject.self)) { call in
                try await update(
                    UpdateSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), subject: call.body(), unchangedSince: call.unchangedSince),
                    for: call)
            },
            Route(.delete, one, right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), unchangedSince: call.unchangedSince),
                    for: call)
            },
        ]
    }

    private func add<Edit: Command, Value>(_ command: Edit, for call: Call<some Sendable>) async throws -> Answer<Value>
    where Edit.Reply == CubeEdit<Value> {
        let edit = try await service.edit(command, for: call.caller)
        return Answer(edit.value, version: edit.version)
    }

    private func update<Edit: Command, Value>(_ command: Edit, for call: Call<some Sendable>) async throws -> Answer<Value>
    where Edit.Reply == CubeEdit<Value> {
        let edit = try await editUnlessChanged(command, for: call)
        return Answer(edit.value, version: edit.version)
    }

    private func delete<Edit: Command>(_ command: Edit, for call: Call<some Sendable>) async throws -> Answer<NoContent>
    where Edit.Reply == CubeEdit<Done> {
        Answer(version: try await editUnlessChanged(command, for: call).version)
    }

    /// Performs an edit. The answer is 412 if the object was changed meanwhile.
    private func editUnlessChanged<Edit: Command, Value>(
        _ command: Edit, for call: Call<some Sendable>
    ) async throws -> CubeEdit<Value> where Edit.Reply == CubeEdit<Value> {
        try await call.unlessChanged { try await service.edit(command, for: call.caller) }
    }
}

extension Call {
    /// The version of the cube that the author of an edit saw.
    fileprivate var unchangedSince: CubeVersion? {
        get throws { try unchangedSince(of: "the cube") }
    }
}
