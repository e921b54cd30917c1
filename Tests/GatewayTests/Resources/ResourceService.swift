import Bus
import Schemas
import Store
import MessageLog
import TestSupport
import Testing

@testable import Gateway
@testable import ServiceKit

/// A service of shelves and books, and the gateway's routes to it. Both run in the process of the test.
struct ResourceService: Sendable {
    let client: CommandClient
    let port: Int

    /// Runs a test with an empty store.
    static func with(_ kind: StoreKind, _ body: @escaping @Sendable (ResourceService) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await with(in: folder, database: kind.newDatabaseURL(), body)
        }
    }

    private static func with(
        in folder: String, database: String?, _ body: @escaping @Sendable (ResourceService) async throws -> Void
    ) async throws {
        // Any entry of a service with commands and data.
        let entry = ServiceEntry.cube
        var environment = ["MSI_STATE_DIR": folder]
        environment["MSI_DATABASE_URL"] = database
        let settings = try await SettingValues(
            arguments: [], environment: environment, accepted: SettingDeclaration.common + entry.settings)
        let declaration = StoreDeclaration("library", Shelf.collection, Book.collection, Label.collection)
        let wiring = Wiring(settings: settings, logger: quietLogger)
        let plan = try await ServicePlan.answering(entry, from: declaration, wiring) { router, store in
            router.serve(Shelf.self, from: store)
            router.serve(Book.self, from: store)
            router.serve(Label.self, from: store)
        }
        try await perform {
            try await run(plan, endpoint: settings.value(.listen(entry)), body)
        } finally: {
            try await plan.close()
        }
    }

    private static func run(
        _ plan: ServicePlan, endpoint: String, _ body: @escaping @Sendable (ResourceService) async throws -> Void
    ) async throws {
        try await withBus { bus in
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
            let routes =
                ResourceRoutes(Shelf.self, of: client, write: .administer).routes
                + ResourceRoutes(Book.self, of: client, write: .send).routes
                + ResourceRoutes(Label.self, of: client, write: .send).routes
            try await withRouteServer(routes, as: .sample(.superUser), beside: plan.services) { port in
                try await body(ResourceService(client: client, port: port))
            }
        }
    }

    /// Repeats a request while the store is too slow for it.
    func request(
        _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        let request = HTTPConversation.request(method, target, headers: headers, body: body.map { Array($0.utf8) })
        return try await eventually("an answer other than 503") {
            let answer = try #require(try await HTTPConversation.send(request, to: port))
            return answer.status == 503 ? nil : answer
        }
    }

    /// Adds a shelf, or a book at its path.
    ///
    /// - Returns: Its id and its entity tag.
    func add(_ target: String, _ body: String) async throws -> (id: String, tag: String) {
        let answer = try await request("POST", target, body)
        #expect(answer.status == 201, "\(answer)")
        let id = try #require(answer.object["_id"] as? String)
        return (id, try #require(answer["etag"]))
    }
}
