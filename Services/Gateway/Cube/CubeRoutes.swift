import Bus
import HTTPTypes
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Base

/// The information cube over HTTP (seed, "REST API": Channel, Area, Subject).
///
/// Only administrators of the whole cube see the access lists. Each answer carries the cube's version as its entity tag. With `If-None-Match` an unchanged cube is not sent again. With
/// `If-Match` an edit or a deletion is refused if its object was changed after that version.
struct CubeRoutes: Feature {
    let service: CubeService

    /// - Throws: ``ConfigurationError``, or `BusError`.
    init(client: CommandClient, bus: Bus, settings: SettingValues, logger: Logger) throws {
        let version = try FollowedVersion<CubeChanged>(
            bus: bus, endpoints: settings.value(.endpoints(of: .cube, .events)), logger: logger)
        service = CubeService(client: client, version: version, grace: Duration(try settings.value(.gatewayPeopleGrace)))
    }

    var background: [any Service] { service.background }

    var section: APISection {
        APISection(
            "Information cube",
            "Channels contain areas, areas contain subjects, and phones subscribe to subjects. Each answer has the cube's version as "
                + "`ETag`. Send it back as `If-Match` with an edit, so that two administrators do not overwrite each other's changes."
        )
    }

    var routes: [Route] { [list] + channel + area + subject + place + access + order + approval }

    private var list: Route {
        Route(.get, "/channel", right: .anyone, answer: .ok([Channel].self)) { call in
            let copy = try await service.current()
            let document = call.showsAccess ? copy.complete : copy.open
            var answer = Answer<[Channel]>(shared: document.json, tag: document.tag, for: call.request)
            answer.headers[.vary] = "Cookie, Authorization"
            return answer
        }.documented(
            "Read the information cube",
            "All channels with their areas and subjects. Only administrators see who is in the `access` lists; for all others they are "
                + "empty.", headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)]
        ).counted(as: .phones)
    }

    private var channel: [Route] {
        [
            Route(.post, "/channel", right: .administer, body: NamedDraft.self, answer: .created(Channel.self)) { call in
                try await add(AddChannel(channel: call.body()), for: call)
            }.documented("Add a channel", answerHeaders: [.eTag]),
            Route(.put, "/channel/:channelID", right: .administer, body: NamedDraft.self, answer: .ok(Channel.self)) { call in
                try await update(
                    UpdateChannel(
                        channelID: call.identifier("channelID"), channel: call.body(), unchangedSince: call.unchangedSince),
                    for: call)
            }.documented("Update a channel", headers: [.ifMatchCube], answerHeaders: [.eTag], problems: [.conflict]),
            Route(.delete, "/channel/:channelID", right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteChannel(channelID: call.identifier("channelID"), unchangedSince: call.unchangedSince), for: call)
            }.documented(
                "Delete a channel", "Its areas and subjects are deleted as well.", headers: [.ifMatchCube],
                answerHeaders: [.eTag], problems: [.conflict]),
        ]
    }

    private var area: [Route] {
        let one = "/area/:channelID/:areaID"
        return [
            Route(.post, "/area/:channelID", right: .administer, body: NamedDraft.self, answer: .created(Area.self)) { call in
                try await add(AddArea(channelID: call.identifier("channelID"), area: call.body()), for: call)
            }.documented("Add an area", answerHeaders: [.eTag], problems: [.conflict]),
            Route(.put, one, right: .administer, body: NamedDraft.self, answer: .ok(Area.self)) { call in
                try await update(
                    UpdateArea(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"), area: call.body(),
                        unchangedSince: call.unchangedSince),
                    for: call)
            }.documented("Update an area", headers: [.ifMatchCube], answerHeaders: [.eTag], problems: [.conflict]),
            Route(.delete, one, right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteArea(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Delete an area", "Its subjects are deleted as well.", headers: [.ifMatchCube], answerHeaders: [.eTag],
                problems: [.conflict]),
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
            }.documented(
                "Add a subject", "Phones subscribe to its `topic_key`.", answerHeaders: [.eTag], problems: [.conflict]),
            Route(.put, one, right: .administer, body: SubjectDraft.self, answer: .ok(Subject.self)) { call in
                try await update(
                    UpdateSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), subject: call.body(), unchangedSince: call.unchangedSince),
                    for: call)
            }.documented(
                "Update a subject", "Its `topic_key` stays.", headers: [.ifMatchCube], answerHeaders: [.eTag],
                problems: [.conflict]),
            Route(.delete, one, right: .administer, answer: .noContent) { call in
                try await delete(
                    DeleteSubject(
                        channelID: call.identifier("channelID"), areaID: call.identifier("areaID"),
                        subjectID: call.identifier("subjectID"), unchangedSince: call.unchangedSince),
                    for: call)
            }.documented("Delete a subject", headers: [.ifMatchCube], answerHeaders: [.eTag], problems: [.conflict]),
        ]
    }

    private func add<Edit: CubeEditing>(
        _ command: Edit, for call: Call<some Sendable>
    ) async throws -> Answer<Edit.Value> where Edit.Value: CubeValue {
        answer(try await service.edit(command, for: call.caller), for: call)
    }

    func update<Edit: CubeEditing>(
        _ command: Edit, for call: Call<some Sendable>
    ) async throws -> Answer<Edit.Value> where Edit.Value: CubeValue {
        answer(try await editUnlessChanged(command, for: call), for: call)
    }

    private func delete<Edit: CubeEditing>(_ command: Edit, for call: Call<some Sendable>) async throws -> Answer<NoContent>
    where Edit.Value == Done {
        Answer(version: CubeTag(try await editUnlessChanged(command, for: call).version))
    }

    /// A token may administer a part of the cube without seeing the access lists.
    private func answer<Value: CubeValue>(_ edit: CubeEdit<Value>, for call: Call<some Sendable>) -> Answer<Value> {
        let tag = CubeTag(edit.version, showsAccess: call.showsAccess)
        return Answer(call.showsAccess ? edit.value : edit.value.withoutAccess, version: tag)
    }

    /// Performs an edit. The answer is 412 if the object was changed after the version that the author saw.
    private func editUnlessChanged<Edit: CubeEditing>(
        _ command: Edit, for call: Call<some Sendable>
    ) async throws -> CubeEdit<Edit.Value> {
        try await call.unlessChanged { try await service.edit(command, for: call.caller) }
    }
}

extension RouteCall {
    /// The version of the cube that the author of an edit saw.
    var unchangedSince: CubeVersion? {
        get throws {
            let tag: CubeTag? = try unchangedSince(of: "the cube")
            return tag?.version
        }
    }

    /// Whether the caller sees the access lists.
    fileprivate var showsAccess: Bool { context.principal?.isAdministrator ?? false }
}
