import Base
import Bus
import Schemas
import Store
import TestSupport

@testable import People

/// A student of a test, who asks the running service.
struct TestStudent: Sendable {
    let client: PatientClient
    let name: AccountName
    let device = ObjectID()

    private var context: CallerContext { CallerContext(actor: name.description) }

    func request<C: Command>(_ command: C) async throws(CommandFailure) -> C.Reply {
        try await client.request(command, context: context)
    }

    func failure<C: Command>(of command: C) async -> CommandFailure? { await client.failure(of: command, context: context) }

    @discardableResult
    func ask(_ other: AccountName) async throws(CommandFailure) -> FriendState.State {
        try await request(AskFriend(other, from: device)).state
    }

    func answer(_ other: AccountName, accept: Bool = true) async throws(CommandFailure) {
        _ = try await request(AnswerFriend(other, accept: accept))
    }

    func remove(_ other: AccountName) async throws(CommandFailure) { _ = try await request(RemoveFriend(other)) }

    func block(_ other: AccountName, _ blocked: Bool = true) async throws(CommandFailure) {
        _ = try await request(BlockPerson(other, blocked: blocked))
    }

    func view(_ other: AccountName) async throws(CommandFailure) -> PersonView { try await request(ViewPerson(other)) }

    func found(_ text: String) async throws(CommandFailure) -> [AccountName] { try await request(SearchPersons(text)).accounts }

    /// What this student has with others, each list as the service orders it.
    func relations() async throws(CommandFailure) -> Relations {
        let requests = try await request(ListFriendRequests())
        return Relations(
            friends: try await request(ListFriends()).friends, asked: requests.asked.map(\.account),
            received: requests.received.map(\.account), blocked: try await request(ListBlocked()).blocked)
    }

    struct Relations: Hashable {
        var friends: [AccountName] = []
        var asked: [AccountName] = []
        var received: [AccountName] = []
        var blocked: [AccountName] = []
    }
}

extension RunningPeople {
    func student(_ name: AccountName) -> TestStudent { TestStudent(client: client, name: name) }

    /// Adds students.
    func addStudents(_ names: AccountName...) async throws {
        for name in names { try await add(name, role: .student) }
    }

    /// Makes two students friends.
    func befriend(_ one: AccountName, _ other: AccountName) async throws {
        try await student(one).ask(other)
        try await student(other).answer(one)
    }

    /// Runs a test with a new service that has the super user `admin` and these students.
    static func withStudents<Result>(
        _ kind: StoreKind = .sqlite, _ names: AccountName..., isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningPeople) async throws -> Result
    ) async throws -> Result {
        try await withAdmin(kind) { people in
            for name in names { try await people.addStudents(name) }
            return try await body(people)
        }
    }
}

/// Uses the store of a service that is stopped.
func withPeopleStore<Result>(
    in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (Storage) async throws -> Result
) async throws -> Result {
    let store = try await Storage.open(
        PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
    return try await perform {
        try await body(store)
    } finally: {
        try await store.close()
    }
}
