import Bus
import Schemas
import TestSupport

@testable import Gateway

/// A gateway's copies of credentials, of the cube and of the broadcasts. Their services are away.
struct CopiesAlone: Sendable {
    let credentials: Credentials
    let cube: CubeService
    let broadcasts: BroadcastService

    /// Runs a test with no copies.
    ///
    /// - Parameter body: Gets an empty folder as well.
    static func with(_ body: (CopiesAlone, _ folder: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await withBus { bus in
                let endpoint = "ipc://\(folder)/nobody.sock"
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let credentials = try Credentials(
                    people: client, bus: bus, endpoints: [endpoint], grace: .seconds(600), logger: quietLogger)
                let version = try FollowedVersion<CubeChanged>(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let cube = CubeService(client: client, version: version, grace: .seconds(600))
                let broadcasts = BroadcastService(
                    client: client,
                    version: try FollowedVersion<BroadcastsChanged>(bus: bus, endpoints: [endpoint], logger: quietLogger),
                    grace: .seconds(600))
                try await body(CopiesAlone(credentials: credentials, cube: cube, broadcasts: broadcasts), folder)
            }
        }
    }

    /// Adds the copy of a credential, as if the people service had just told it.
    func add(_ principal: Principal) {
        credentials.learned(principal.credential, for: principal.hash)
    }
}
