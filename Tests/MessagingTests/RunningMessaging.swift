import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport

@testable import Messaging
@testable import ServiceKit

/// The messaging service in the process of the test, a people service of the test, and a client. The message log is away.
struct RunningMessaging {
    let log: RecordedLog
    let bus: Bus
    let client: PatientClient
    let people: PeopleDouble
    let folder: String
    let database: String?

    /// Runs a test with a new, empty service.
    static func with<Result>(
        _ kind: StoreKind = .sqlite, settings: [String: String] = [:], clock: TestClock? = nil,
        people: PeopleDouble = PeopleDouble(), isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningMessaging) async throws -> Result
    ) async throws -> Result {
        let database = try await kind.newDatabaseURL()
        return try await withTemporaryFolder { folder in
            try await with(in: folder, database: database, settings: settings, clock: clock, people: people, body)
        }
    }

    /// Runs a test with the service of a folder or database.
    ///
    /// - Parameter database: Of MongoDB; `nil` for a file in the folder.
    static func with<Result>(
        in folder: String, database: String? = nil, settings: [String: String] = [:], clock: TestClock? = nil,
        people: PeopleDouble = PeopleDouble(), isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningMessaging) async throws -> Result
    ) async throws -> Result {
        var environment = settings
        environment["MSI_STATE_DIR"] = folder
        environment["MSI_DATABASE_URL"] = database
        let values = try await SettingValues(arguments: [], environment: environment, accepted: [])
        let log = RecordedLog()
        return try await people.router().run(at: "ipc://\(folder)/run/people.sock") {
            let plan = try await ServicePlan.messaging(
                Wiring(settings: values, logger: log.logger), now: { clock?.now ?? .now })
            return try await plan.run {
                try await withBus { bus in
                    let client = try CommandClient(
                        bus: bus, endpoints: ["ipc://\(folder)/run/messaging.sock"], logger: quietLogger)
                    return try await body(
                        RunningMessaging(
                            log: log, bus: bus, client: PatientClient(client: client), people: people, folder: folder,
                            database: database))
                }
            }
        }
    }

    /// A person with a new device.
    func person(_ name: AccountName) -> TestPerson { TestPerson(client: client, name: name, device: ObjectID()) }

    /// Uses the store beside the service.
    func withStore<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Storage) async throws -> Result
    ) async throws -> Result {
        try await withMessagingStore(in: folder, database: database, body)
    }

    /// Runs a message log of the test beside the service.
    func with<Result>(
        _ messageLog: OutboxDouble, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await messageLog.run(at: "ipc://\(folder)/run/message-log.sock", body)
    }
}

/// A person of a test on one device, who asks the running service.
struct TestPerson: Sendable {
    let client: PatientClient
    let name: AccountName
    let device: ObjectID

    /// As the gateway sends the person's commands.
    var context: CallerContext { CallerContext(actor: name.description, address: "192.0.2.1") }

    /// The person on another, new device.
    var elsewhere: TestPerson { TestPerson(client: client, name: name, device: ObjectID()) }

    @discardableResult
    func request<C: Command>(_ command: C) async throws(CommandFailure) -> C.Reply {
        try await client.request(command, context: context)
    }

    /// The failure of a command, or `nil` if it succeeds.
    func failure<C: Command>(of command: C) async -> CommandFailure? { await client.failure(of: command, context: context) }

    @discardableResult
    func send(
        _ text: String, to other: AccountName, classmate: Bool = false, key: String? = nil
    ) async throws(CommandFailure) -> DirectMessage {
        try await request(
            SendDirectMessage(DirectMessageDraft(to: other, text: text), classmate: classmate, requestKey: key))
    }

    func news(
        after position: Int64 = 0, limit: Int = 200, prompt: ObjectID? = nil
    ) async throws(CommandFailure) -> MessageNews {
        try await request(ReadMessageNews(on: device, after: position, limit: limit, prompt: prompt))
    }

    /// Confirms that the device has everything up to a position.
    func confirm(_ position: Int64) async throws(CommandFailure) {
        try await request(ConfirmMessages(on: device, after: position))
    }

    /// Fetches what is new, and confirms it.
    @discardableResult
    func receive(after position: Int64 = 0) async throws(CommandFailure) -> MessageNews {
        let news = try await news(after: position)
        try await confirm(news.after)
        return news
    }

    func read(_ message: DirectMessage) async throws(CommandFailure) {
        try await request(MarkMessagesRead(upTo: message.id))
    }

    func conversation(
        with other: AccountName, limit: Int = 200, before: Int64? = nil
    ) async throws(CommandFailure) -> ConversationPage {
        try await request(ListConversation(with: other, limit: limit, before: before))
    }
}

/// Uses the store of the messaging service.
func withMessagingStore<Result>(
    in folder: String, database: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (Storage) async throws -> Result
) async throws -> Result {
    let url = try database.map { try MongoURL($0) }
    let store = try await Storage.open(
        MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
    return try await perform {
        try await body(store)
    } finally: {
        try await store.close()
    }
}
