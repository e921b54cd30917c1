import Bus
import Base
import Schemas
import TestSupport
import Testing

@testable import People
@testable import ServiceKit

/// The tests of the running service.
@Suite("The people service")
enum PeopleServiceTests {}

/// The people service in the process of the test, and a client of it. It hashes passwords fast.
struct RunningPeople {
    let log: RecordedLog
    let bus: Bus
    let client: PatientClient
    let folder: String

    static let password = Secret("the admin's password")
    static let fastHash = PasswordHash.Parameters(cost: 1 << 4, blockSize: 8, parallelism: 1)
    /// For a provider on a busy machine.
    static let patientTimes = ProviderTimes(request: .seconds(60))

    /// Runs a test with a new, empty service.
    static func with<Result>(
        _ kind: StoreKind, settings: [String: String] = [:],
        hashing: PasswordHashing = PasswordHashing(parameters: fastHash), keys: [IdentityProvider: any KeySource] = [:],
        clock: TestClock? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        var settings = settings
        settings["MSI_DATABASE_URL"] = try await kind.newDatabaseURL()
        return try await withTemporaryFolder { [settings] folder in
            try await with(in: folder, settings: settings, hashing: hashing, keys: keys, clock: clock, body)
        }
    }

    /// Runs a test with the service of a folder or database.
    ///
    /// - Parameters:
    ///   - settings: By default anyone may register with a password.
    ///   - keys: Those of providers.
    static func with<Result>(
        in folder: String, settings: [String: String] = [:],
        hashing: PasswordHashing = PasswordHashing(parameters: fastHash), times: ProviderTimes = patientTimes,
        keys: [IdentityProvider: any KeySource] = [:], clock: TestClock? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        let given = ["MSI_REGISTRATION": "anyone"].merging(settings) { $1 }
        let settings = try await SettingValues(
            arguments: [], environment: given.merging(["MSI_STATE_DIR": folder]) { $1 }, accepted: [])
        let log = RecordedLog()
        let plan = try await ServicePlan.people(
            Wiring(settings: settings, logger: log.logger), hashing: hashing, times: times, keys: keys,
            now: { clock?.now ?? .now })
        return try await plan.run {
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/people.sock"], logger: quietLogger)
                return try await body(RunningPeople(log: log, bus: bus, client: PatientClient(client: client), folder: folder))
            }
        }
    }

    /// Runs a test with a new service that has the super user `admin`.
    static func withAdmin<Result>(
        _ kind: StoreKind, settings: [String: String] = [:],
        hashing: PasswordHashing = PasswordHashing(parameters: fastHash), clock: TestClock? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        try await with(kind, settings: settings, hashing: hashing, clock: clock) { people in
            try await people.setUp()
            return try await body(people)
        }
    }

    /// Runs a test with a new service that has the super user `admin`, and a provider at which no one can sign in.
    static func withProviderThatIsAway<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        let settings = ["MSI_OIDC_ISSUER": "http://127.0.0.1:1", "MSI_OIDC_CLIENT_ID": "hub"]
        return try await withTemporaryFolder { folder in
            try await with(in: folder, settings: settings) { people in
                try await people.setUp()
                return try await body(people)
            }
        }
    }

    /// The operator's token of ``setUp()``.
    static let operatorHash = CredentialHash(digest: (0..<32).map { UInt8($0) })

    func setUp() async throws {
        _ = try await client.request(SetUpPeople(account: "admin", password: Self.password, tokenHash: Self.operatorHash))
    }

    func add(_ name: AccountName, _ password: Secret = Self.password, role: Role = .communicator) async throws {
        _ = try await client.request(AddAccount(account: name, password: password, role: role))
    }

    func signIn(
        _ name: String = "admin", _ password: Secret = Self.password, code: Secret? = nil, address: String = "192.0.2.1"
    ) async throws -> SignedIn {
        try await client.request(BeginSignIn(account: name, password: password, code: code, address: address))
    }

    /// The failure of a sign-in.
    func refusal(
        _ name: String = "admin", _ password: Secret = Self.password, code: Secret? = nil, address: String = "192.0.2.1"
    ) async -> CommandFailure? {
        await client.failure(of: BeginSignIn(account: name, password: password, code: code, address: address))
    }

    /// Makes wrong attempts until they are limited. The first waits are so short that a busy machine's answer takes longer.
    ///
    /// - Returns: The answer to the attempt that has to wait.
    func tooManyAttempts(_ attempt: () async -> CommandFailure?) async throws -> CommandFailure {
        for _ in 0..<8 {
            let failure = try #require(await attempt())
            if failure.status == .overloaded { return failure }
            #expect(failure.status == .unauthenticated)
        }
        throw TooLate("no attempt has to wait")
    }

    /// `nil` if the credential is not valid.
    func credential(_ hash: CredentialHash) async throws -> Credential? {
        do throws(CommandFailure) {
            return try await client.request(FindCredential(hash: hash))
        } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    func changes(after sequence: Int64) async throws -> ReadPeopleChanges.Reply {
        try await client.request(ReadPeopleChanges(after: sequence))
    }

    /// Subscribes to the events about credentials.
    func listen() async throws -> AsyncStream<PeopleChanged> {
        try await listen(to: PeopleChanged.self, PeopleChanged.name)
    }

    /// Subscribes to an event that is repeated. The subscription works once the first one has come.
    func listen<Event: Decodable & Sendable>(to type: Event.Type, _ name: String) async throws -> AsyncStream<Event> {
        let subscriber = try EventSubscriber(
            bus: bus, endpoints: ["ipc://\(folder)/run/people-events.sock"], names: [name], logger: quietLogger)
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        Task {
            for await event in subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                do {
                    continuation.yield(try JSONCoder.decode(Event.self, from: payload))
                } catch {
                    Issue.record("an event that is none: \(error)")
                }
            }
            continuation.finish()
        }
        for await _ in stream { break }
        return stream
    }
}

extension AccountName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        guard let name = AccountName(value) else { preconditionFailure("\(value) is no account's name") }
        self = name
    }
}

extension CallerContext {
    static let admin = CallerContext(actor: "admin")
}

extension SignedIn {
    var hash: CredentialHash { secret.credentialHash }
}
