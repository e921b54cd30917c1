import FoundationEssentials
import HTTPTypes
import Hummingbird
import Schemas

/// The information cube over HTTP (seed, "REST API": Channel, Area, Subject).
///
/// Each answer has the cube's version as its entity tag. With `If-None-Match` an unchanged cube is not sent again. With
/// `If-Match` an edit or a deletion is refused if its object was changed after that version.
struct CubeRoutes {
    let cube: CubeService

    func register(in router: Router<GatewayContext>) {
        router.path("/channel", [.get: list, .post: addChannel])
        router.path("/channel/:channelID", [.put: updateChannel, .delete: deleteChannel])
        router.path("/area/:channelID", [.post: addArea])
        router.path("/area/:channelID/:areaID", [.put: updateArea, .delete: deleteArea])
        router.path("/subject/:channelID/:areaID", [.post: addSubject])
        router.path("/subject/:channelID/:areaID/:subjectID", [.put: updateSubject, .delete: deleteSubject])
    }

    @Sendable private func list(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let copy = try await cube.current()
        let tag = CubeTag(version: copy.version)
        if request.headers[.ifNoneMatch] == tag.text {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        return .json(large: copy.json, on: context.channel, headers: [.eTag: tag.text])
    }

    @Sendable private func addChannel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try created(await cube.edit(AddChannel(channel: try await RequestBody.decode(from: request))))
    }

    @Sendable private func updateChannel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try replaced(
            await edit(
                UpdateChannel(
                    channelID: try context.identifier("channelID"), channel: try await RequestBody.decode(from: request),
                    unchangedSince: try request.unchangedSince)))
    }

    @Sendable private func deleteChannel(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try deleted(
            await edit(
                DeleteChannel(
                    channelID: try context.identifier("channelID"), unchangedSince: try request.unchangedSince)))
    }

    @Sendable private func addArea(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try created(
            await cube.edit(
                AddArea(
                    channelID: try context.identifier("channelID"), area: try await RequestBody.decode(from: request))))
    }

    @Sendable private func updateArea(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try replaced(
            await edit(
                UpdateArea(
                    channelID: try context.identifier("channelID"), areaID: try context.identifier("areaID"),
                    area: try await RequestBody.decode(from: request), unchangedSince: try request.unchangedSince)))
    }

    @Sendable private func deleteArea(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try deleted(
            await edit(
                DeleteArea(
                    channelID: try context.identifier("channelID"), areaID: try context.identifier("areaID"),
                    unchangedSince: try request.unchangedSince)))
    }

    @Sendable private func addSubject(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try created(
            await cube.edit(
                AddSubject(
                    channelID: try context.identifier("channelID"), areaID: try context.identifier("areaID"),
                    subject: try await RequestBody.decode(from: request))))
    }

    @Sendable private func updateSubject(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try replaced(
            await edit(
                UpdateSubject(
                    channelID: try context.identifier("channelID"), areaID: try context.identifier("areaID"),
                    subjectID: try context.identifier("subjectID"), subject: try await RequestBody.decode(from: request),
                    unchangedSince: try request.unchangedSince)))
    }

    @Sendable private func deleteSubject(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try deleted(
            await edit(
                DeleteSubject(
                    channelID: try context.identifier("channelID"), areaID: try context.identifier("areaID"),
                    subjectID: try context.identifier("subjectID"), unchangedSince: try request.unchangedSince)))
    }

    /// Performs an edit, which fails if the object was changed meanwhile.
    private func edit<Edit: Command, Value>(_ command: Edit) async throws -> CubeEdit<Value>
    where Edit.Reply == CubeEdit<Value> {
        do {
            return try await cube.edit(command)
        } catch let failure as CommandFailure where failure.status == .conflict && failure.field == nil {
            // A conflict with a field has another reason: the object that the field names cannot be read.
            throw Problem(.changedMeanwhile, failure.message, field: "If-Match")
        }
    }

    private func created(_ edit: CubeEdit<some Encodable>) throws -> Response {
        try .json(edit.value, status: .created, headers: [.eTag: CubeTag(version: edit.version).text])
    }

    private func replaced(_ edit: CubeEdit<some Encodable>) throws -> Response {
        try .json(edit.value, headers: [.eTag: CubeTag(version: edit.version).text])
    }

    private func deleted(_ edit: CubeEdit<Done>) throws -> Response {
        Response(status: .noContent, headers: [.eTag: CubeTag(version: edit.version).text])
    }
}
