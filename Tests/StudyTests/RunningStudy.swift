import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport

@testable import ServiceKit
@testable import Study

/// The study service in the process of the test, and a client of it. The people service and the message log are away.
struct RunningStudy {
    let log: RecordedLog
    let bus: Bus
    let client: PatientClient
    let folder: String
    /// With which it was started.
    let settings: SettingValues

    /// Runs a test with a new, empty service.
    static func with<Result>(
        _ kind: StoreKind = .sqlite, settings: [String: String] = [:], clock: TestClock? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningStudy) async throws -> Result
    ) async throws -> Result {
        let database = try await kind.newDatabaseURL()
        return try await withTemporaryFolder { folder in
            try await with(in: folder, database: database, settings: settings, clock: clock, body)
        }
    }

    /// Runs a test with the service of a folder or database.
    ///
    /// - Parameter database: Of MongoDB; `nil` for a file in the folder.
    static func with<Result>(
        in folder: String, database: String? = nil, settings: [String: String] = [:], clock: TestClock? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningStudy) async throws -> Result
    ) async throws -> Result {
        var environment = settings
        environment["MSI_STATE_DIR"] = folder
        environment["MSI_DATABASE_URL"] = database
        let values = try await SettingValues(arguments: [], environment: environment, accepted: [])
        let log = RecordedLog()
        let plan = try await ServicePlan.study(Wiring(settings: values, logger: log.logger), now: { clock?.now ?? .now })
        return try await plan.run {
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/study.sock"], logger: quietLogger)
                return try await body(
                    RunningStudy(
                        log: log, bus: bus, client: PatientClient(client: client), folder: folder, settings: values))
            }
        }
    }

    /// Runs a test with a new service, and reads afterwards what it has stored for the audit log.
    static func recorded<Result>(
        _ kind: StoreKind = .sqlite, isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningStudy) async throws -> Result
    ) async throws -> (Result, [AuditEntry]) {
        let database = try await kind.newDatabaseURL()
        return try await withTemporaryFolder { folder in
            let result = try await with(in: folder, database: database, body)
            let entries = try await withStudyStore(in: folder, database: database) { store in
                let pending = try await AuditQueue(of: store).pendingAudit(limit: 200)
                return try pending.map { try JSONCoder.decode(AuditEntry.self, from: Data($0.json.utf8)) }
            }
            return (result, entries)
        }
    }

    /// The service reads its settings again, as after a change of its configuration file.
    ///
    /// - Parameter new: Those that have a value then. The service was started with others.
    /// - Returns: What has changed; a line for each.
    func reload(_ new: [String: String]) async throws -> [String] {
        let check = ConfigurationCheck(name: "study", settings: SettingDeclaration.study) { _ in [] }
        let reload = try SettingsReload(settings, readAfter: .now, privateFiles: [], check: check, logger: log.logger) {
            try await SettingValues(arguments: [], environment: new, accepted: [])
        }
        return await reload.run().lines
    }

    func person(_ name: AccountName) -> TestPerson { TestPerson(client: client, name: name) }
}

/// A person of a test, who asks the running service.
struct TestPerson: Sendable {
    let client: PatientClient
    let name: AccountName

    /// As the gateway sends the person's commands.
    var context: CallerContext { CallerContext(actor: name.description, address: "192.0.2.1") }

    @discardableResult
    func request<C: Command>(_ command: C) async throws(CommandFailure) -> C.Reply {
        try await client.request(command, context: context)
    }

    /// The failure of a command, or `nil` if it succeeds.
    func failure<C: Command>(of command: C) async -> CommandFailure? { await client.failure(of: command, context: context) }
}

extension RunningStudy {
    /// Makes a class.
    @discardableResult
    func addClass(
        _ identificationKey: String = "PHY-1", named name: String = "Physics", by professor: AccountName = "prof"
    ) async throws -> StudyClass {
        try await person(professor).request(AddClass(ClassDraft(name: name, identificationKey: identificationKey)))
    }

    /// Makes a key of a class.
    func addKey(
        to classID: ObjectID, _ role: ClassRole = .student, uses: Int? = nil, expires: UnixMilliseconds? = nil,
        by professor: AccountName = "prof"
    ) async throws -> ClassKey {
        try await person(professor).request(
            AddClassKey(to: classID, ClassKeyDraft(role: role, uses: uses, expires: expires)))
    }

    /// Makes a class of `prof` with these persons.
    func addClass(
        _ identificationKey: String = "PHY-1", students: [AccountName], assistants: [AccountName] = []
    ) async throws -> ObjectID {
        let id = try await addClass(identificationKey).id
        for (role, names) in [(ClassRole.student, students), (.assistant, assistants)] where !names.isEmpty {
            let key = try await addKey(to: id, role)
            for name in names { try await person(name).join(key) }
        }
        return id
    }
}

extension TestPerson {
    /// Joins the class of a key.
    @discardableResult
    func join(_ key: ClassKey) async throws -> StudyClass { try await request(JoinClass(key: key.code, address: "192.0.2.1")) }

    /// Why nobody can join with a key.
    func refusal(of key: Secret, address: String = "192.0.2.1") async -> CommandFailure? {
        await failure(of: JoinClass(key: key, address: address))
    }
}

/// Uses the store of a service that is stopped.
func withStudyStore<Result>(
    in folder: String, database: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (Storage) async throws -> Result
) async throws -> Result {
    let url = try database.map { try MongoURL($0) }
    let store = try await Storage.open(
        StudyStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
    return try await perform {
        try await body(store)
    } finally: {
        try await store.close()
    }
}

extension AccountName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        guard let name = AccountName(value) else { preconditionFailure("\(value) is no account's name") }
        self = name
    }
}
