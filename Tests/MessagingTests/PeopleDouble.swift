import Bus
import Schemas
import Synchronization
import TestSupport

/// A people service of a test: who is whose friend, and which devices there are. All persons are friends, unless a test says
/// otherwise.
final class PeopleDouble: Sendable {
    private struct State {
        var states: [Set<AccountName>: CheckFriends.State] = [:]
        var disabled: Set<AccountName> = []
        var devices: [AccountName: [ObjectID]] = [:]
        var failure: CommandFailure?
        var checks: [[AccountName]] = []
        var beforeReply: (@Sendable () async throws -> Void)?
    }

    private let persons: [AccountName]
    private let state = Mutex(State())

    /// - Parameter persons: Those whom `friend.list` names.
    init(_ persons: AccountName...) {
        self.persons = persons
    }

    /// What it answers instead of anything else.
    var failure: CommandFailure? {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Whom `friend.check` has asked about, for each command.
    var checks: [[AccountName]] { state.withLock(\.checks) }

    /// Does something once the next answer to `friend.check` is certain, before the answer is sent.
    func delayNextCheck(_ work: @escaping @Sendable () async throws -> Void) { state.withLock { $0.beforeReply = work } }

    func befriend(_ one: AccountName, _ other: AccountName) { state.withLock { $0.states[[one, other]] = .friends } }

    /// The two are no friends any more.
    func part(_ one: AccountName, _ other: AccountName) { state.withLock { $0.states[[one, other]] = .strangers } }

    /// One of the two blocks the other one.
    func block(_ one: AccountName, _ other: AccountName) { state.withLock { $0.states[[one, other]] = .blocked } }

    func disable(_ account: AccountName) { state.withLock { _ = $0.disabled.insert(account) } }

    /// The devices on which a person is signed in.
    func setDevices(_ devices: [ObjectID], of account: AccountName) { state.withLock { $0.devices[account] = devices } }

    private func relation(of account: AccountName, to other: AccountName) -> CheckFriends.State {
        state.withLock { state in
            guard account != other else { return .blocked }
            let found = state.states[[account, other]] ?? .friends
            guard state.disabled.contains(other) else { return found }
            return found == .friends ? .away : .blocked
        }
    }

    func router() -> CommandRouter {
        var router = CommandRouter()
        router.on(CheckFriends.self) { [self] command, context in
            let account = try begin(context)
            let relations = command.accounts.map {
                CheckFriends.Relation(account: $0, state: relation(of: account, to: $0))
            }
            let beforeReply = state.withLock { state in
                state.checks.append(command.accounts)
                defer { state.beforeReply = nil }
                return state.beforeReply
            }
            try await beforeReply?()
            return CheckFriends.Reply(relations: relations)
        }
        router.on(ListFriends.self) { [self] _, context in
            let account = try begin(context)
            return FriendList(friends: persons.filter { relation(of: account, to: $0) == .friends })
        }
        router.on(ListDevices.self) { [self] command, _ in
            if let failure { throw failure }
            let devices = state.withLock { $0.devices[command.account] ?? [] }
            return ListDevices.Reply(
                devices: devices.map {
                    Device(
                        id: $0, platform: .web, name: nil, language: nil, appVersion: nil, created: .now, seen: .now, push: nil,
                        pushEnded: nil)
                })
        }
        return router
    }

    private func begin(_ context: CommandContext) throws -> AccountName {
        if let failure { throw failure }
        return try context.requirePerson()
    }
}
