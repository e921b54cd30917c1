import CommandBus
import HTTPTypes
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// The declarations of the routes.
@Suite("Routes")
struct RouteTests {
    /// Every route with the right that it requires, its body and its answer.
    private static let table: Set = [
        "GET /channel: read, - -> 200 Array<Channel>",
        "POST /channel: administer, NamedDraft -> 201 Channel",
        "PUT /channel/:channelID: administer, NamedDraft -> 200 Channel",
        "DELETE /channel/:channelID: administer, - -> 204 -",
        "POST /area/:channelID: administer, NamedDraft -> 201 Area",
        "PUT /area/:channelID/:areaID: administer, NamedDraft -> 200 Area",
        "DELETE /area/:channelID/:areaID: administer, - -> 204 -",
        "POST /subject/:channelID/:areaID: administer, SubjectDraft -> 201 Subject",
        "PUT /subject/:channelID/:areaID/:subjectID: administer, SubjectDraft -> 200 Subject",
        "DELETE /subject/:channelID/:areaID/:subjectID: administer, - -> 204 -",
        "GET /message: read, - -> 200 Page",
        "POST /message: send, MessageDraft -> 201 Posted",
        "GET /message/:msi_key: read, - -> 200 Message",
        "DELETE /message/:msi_key: send, - -> 200 Message",
        "POST /message/:msi_key/retry: send, - -> 200 Message",
        "GET /health: anyone, - -> 200 Health",
        "GET /problems: anyone, - -> 200 Array<ProblemEntry>",
        "GET /problems/:kind: anyone, - -> 200 ProblemEntry",
    ]

    @Test("Every route requires the right, reads the body and gives the answer that the table of this test says")
    func declarations() async throws {
        let declared = try await withBus { bus in try await Self.routes(bus).map(Self.line) }
        #expect(declared.count == Self.table.count && Set(declared) == Self.table)
    }

    private static func line(_ route: Route) -> String {
        let body = route.body.map { "\($0)" } ?? "-"
        let document = route.answer.document.map { "\($0)" } ?? "-"
        return "\(route.method.rawValue) \(route.path): \(route.right), \(body) -> \(route.answer.status.code) \(document)"
    }

    /// The gateway's routes, without any running service.
    private static func routes(_ bus: Bus) async throws -> [Route] {
        let settings = try await SettingValues(
            arguments: [], environment: [:], accepted: ServiceEntry.gateway.settings)
        return try Features(bus: bus, settings: settings, logger: quietLogger).routes
    }
}
