import HTTPTypes
import Testing

@testable import Gateway

/// The declarations of the routes.
@Suite("Routes")
struct RouteTests {
    /// Every route with the right that it requires, what it counts as without a sign-in, its body and its answer.
    private static let table: Set = [
        "GET /channel: anyone as phones, - -> 200 Array<Channel>",
        "POST /channel: administer, NamedDraft -> 201 Channel",
        "PUT /channel/:channelID: administer, NamedDraft -> 200 Channel",
        "DELETE /channel/:channelID: administer, - -> 204 -",
        "POST /area/:channelID: administer, NamedDraft -> 201 Area",
        "PUT /area/:channelID/:areaID: administer, NamedDraft -> 200 Area",
        "DELETE /area/:channelID/:areaID: administer, - -> 204 -",
        "POST /subject/:channelID/:areaID: administer, SubjectDraft -> 201 Subject",
        "PUT /subject/:channelID/:areaID/:subjectID: administer, SubjectDraft -> 200 Subject",
        "DELETE /subject/:channelID/:areaID/:subjectID: administer, - -> 204 -",
        "PUT /place/:channelID/:areaID/:subjectID: administer and confirmed, SubjectPlace -> 200 Subject",
        "PUT /access/:channelID: administer and confirmed, AccessList -> 200 AccessList",
        "PUT /access/:channelID/:areaID: administer and confirmed, AccessList -> 200 AccessList",
        "PUT /access/:channelID/:areaID/:subjectID: administer and confirmed, AccessList -> 200 AccessList",
        "PUT /order: administer, CubeOrder -> 200 CubeOrder",
        "PUT /order/:channelID: administer, CubeOrder -> 200 CubeOrder",
        "PUT /order/:channelID/:areaID: administer, CubeOrder -> 200 CubeOrder",
        "PUT /approval/:channelID/:areaID/:subjectID: administer and confirmed, Approval -> 200 Approval",
        "GET /audit: administer, - -> 200 Page",
        "GET /message: read, - -> 200 Page",
        "POST /message: send, MessagePost -> 201 Posted",
        "GET /message/:msi_key: read, - -> 200 Message",
        "PUT /message/:msi_key: send, MessagePost -> 200 Message",
        "DELETE /message/:msi_key: send, Recall -> 200 Message",
        "POST /message/since: anonymous as phones, ReadAccepted -> 200 Reply",
        "POST /receipt: anonymous as receipts, AddReceipts -> 204 -",
        "GET /broadcast: administer, - -> 200 BroadcastPage",
        "POST /broadcast: administer, BroadcastBody -> 201 Broadcast",
        "GET /broadcast/active: anonymous as phones, - -> 200 ActiveBroadcasts",
        "GET /broadcast/features: anonymous as phones, - -> 200 FeatureSwitches",
        "GET /broadcast/:id: administer, - -> 200 Broadcast",
        "GET /broadcast/:id/:form: administer, - -> 200 JSONValue",
        "PUT /broadcast/:id: administer, BroadcastBody -> 200 Broadcast",
        "DELETE /broadcast/:id: administer, - -> 200 Broadcast",
        "POST /phone/topics: anonymous as phone-topics, PhoneToken -> 200 Reply",
        "POST /message/:msi_key/retry: send, - -> 200 Message",
        "POST /message/:msi_key/approve: send, - -> 200 Message",
        "GET /statistics: read, - -> 200 MessageStatistics",
        "GET /reach: signedIn, - -> 200 Reach",
        "GET /template: read, - -> 200 ResourcePage<MessageTemplate>",
        "POST /template: send, Draft -> 201 MessageTemplate",
        "GET /template/:templateID: read, - -> 200 MessageTemplate",
        "PUT /template/:templateID: send, Draft -> 200 MessageTemplate",
        "DELETE /template/:templateID: send, - -> 204 -",
        "POST /send/:channel/:area/:subject: send, TextBody -> 201 Posted",
        "GET /events: signedIn, - -> 200 -",
        "GET /health: anyone, - -> 200 Health",
        "POST /session: anyone, SignInDraft -> 201 Session",
        "POST /session/invitation: anyone, InvitationAcceptance -> 201 Session",
        "POST /session/invitation/check: anyone, InvitationDraft -> 200 Reply",
        "GET /session: partlySignedIn, - -> 200 Session",
        "GET /session/ways: anyone, - -> 200 SignInMethods",
        "PUT /session: partlySignedIn, ConfirmationDraft -> 200 Session",
        "DELETE /session: partlySignedIn, - -> 204 -",
        "GET /session/oidc: anyone, - -> 303 -",
        "GET /session/oidc/callback: anyone, - -> 303 -",
        "GET /display-name: read, - -> 200 Reply",
        "GET /account: administer, - -> 200 AccountPage",
        "POST /account: administer and confirmed, AddAccount -> 201 Account",
        "GET /account/:account: signedIn, - -> 200 Account",
        "PUT /account/:account: administer and confirmed, AccountChange -> 200 Account",
        "DELETE /account/:account: administer and confirmed, - -> 204 -",
        "PUT /account/:account/password: signedIn, PasswordChange -> 200 Account",
        "PUT /account/:account/display-name: signedIn, DisplayNameChange -> 200 Account",
        "POST /account/:account/invitation: administer and confirmed, - -> 201 Account",
        "POST /account/:account/second-factor: partlySignedIn and confirmed, - -> 201 Reply",
        "PUT /account/:account/second-factor: partlySignedIn and confirmed, SecondFactorCode -> 200 Reply",
        "DELETE /account/:account/second-factor: signedIn and confirmed, - -> 200 Account",
        "GET /token: signedIn, - -> 200 TokenPage",
        "POST /token: signedIn and confirmed, AddToken -> 201 Reply",
        "DELETE /token/:tokenID: signedIn and confirmed, - -> 204 -",
        "GET /problems: anyone, - -> 200 Array<ProblemEntry>",
        "GET /problems/:kind: anyone, - -> 200 ProblemEntry",
        "GET /openapi.json: anyone, - -> 200 -",
        "GET /api: anonymous, - -> 200 -",
        "GET /favicon.ico: anonymous, - -> 200 -",
        "GET /: anonymous, - -> 200 -",
        "GET /portal: anonymous, - -> 303 -",
        "GET /portal/**: anonymous, - -> 200 -",
        "GET /app: anonymous as phones, - -> 200 -",
        "GET /app/manifest.webmanifest: anonymous as phones, - -> 200 -",
        "GET /app/service-worker.js: anonymous as phones, - -> 200 -",
        "GET /app/push-worker.js: anonymous as phones, - -> 200 -",
        "GET /app/push: anonymous as phones, - -> 200 Reply",
        "GET /app/push/count: read as phones, - -> 200 SubscriptionCounts",
        "POST /app/push/subscriptions: anonymous as phones, SubscriptionBody -> 201 Reply",
        "PUT /app/push/subscriptions/:id: anonymous as phones, SubscriptionChange -> 204 -",
        "POST /app/push/subscriptions/:id/proof: anonymous as phones, SubscriptionProof -> 204 -",
        "DELETE /app/push/subscriptions/:id: anonymous as phones, - -> 204 -",
        "GET /app/files/**: anonymous as phones, - -> 200 -",
    ]

    @Test("Every route requires the right, reads the body and gives the answer that the table of this test says")
    func declarations() async throws {
        let declared = try await Features.alone { $0.routes.map(Self.line) }
        #expect(declared.count == Self.table.count && Set(declared) == Self.table)
    }

    private static func line(_ route: Route) -> String {
        let body = route.body.map { "\($0)" } ?? "-"
        let document = route.answer.document.map { "\($0)" } ?? "-"
        let budget = route.budget == .general ? "" : " as \(route.budget.rawValue)"
        let right = "\(route.right)" + (route.isConfirmed ? " and confirmed" : "") + budget
        return "\(route.method.rawValue) \(route.path): \(right), \(body) -> \(route.answer.status.code) \(document)"
    }
}
