import TestSupport

@testable import People
@testable import ServiceKit

/// The people service in the process of the test, with passwords that are hashed fast.
enum PeopleService {
    private static let fastHash = PasswordHash.Parameters(cost: 1 << 4, blockSize: 8, parallelism: 1)

    static func run<Result>(
        in folder: String, settings: [String: String], isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let values = try await SettingValues(
            arguments: [], environment: settings.merging(["MSI_STATE_DIR": folder]) { $1 }, accepted: [])
        let wiring = Wiring(settings: values, logger: quietLogger)
        return try await ServicePlan.people(wiring, hashing: PasswordHashing(parameters: fastHash)).run(body)
    }
}
