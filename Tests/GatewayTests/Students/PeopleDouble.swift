import Base
import Bus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport

@testable import Gateway

/// A people service on the bus that tells of ends, keys and events that a test makes up, and records the other commands that it gets.
final class PeopleDouble: Sendable {
    private struct State {
        var keys: [DeviceTokenKey]
        var ended: [EndedTokens] = []
        var publisher: EventPublisher?
        var lastEvent: Int64 = 0
        var reads = 0
        var isSilent = false
    }

    private let epoch = ObjectID()
    private let commands = AskedCommands()
    private let state: Mutex<State>

    init(_ signer: TokenSigner) {
        state = Mutex(State(keys: [signer.announced]))
    }

    /// The commands other than those of the followers.
    var asked: [AskedCommands.Asked] { commands.all }

    /// How often the ends were read.
    var reads: Int { state.withLock(\.reads) }

    /// Lets a command fail; `nil` lets it succeed again.
    func fail(_ command: String, _ failure: CommandFailure?) {
        commands.fail(command, failure)
    }

    // MARK: Events

    func use(_ signers: [TokenSigner]) {
        state.withLock { $0.keys = signers.map(\.announced) }
        announce()
    }

    func end(_ device: ObjectID, at: UnixMilliseconds = .now) {
        end { EndedTokens(number: $0, at: at, device: device) }
    }

    func end(_ account: AccountName, at: UnixMilliseconds = .now) {
        end { EndedTokens(number: $0, at: at, account: account) }
    }

    private func end(_ make: (Int64) -> EndedTokens) {
        state.withLock { $0.ended.append(make(Int64($0.ended.count + 1))) }
        announce()
    }

    /// Makes changes that are announced by the next repetition alone.
    func silently(_ changes: () -> Void) {
        state.withLock { $0.isSilent = true }
        changes()
        state.withLock { $0.isSilent = false }
    }

    /// Announces the latest ends, as the service does once a second.
    func announce() {
        guard !state.withLock(\.isSilent) else { return }
        let event = state.withLock { state in
            let latest = Array(state.ended.suffix(DevicesChanged.maxRepeated))
            return DevicesChanged(after: Int64(state.ended.count - latest.count), ended: latest, keys: state.keys)
        }
        publish(DevicesChanged.name, event)
    }

    /// Publishes the event of a person.
    ///
    /// - Parameter skipped: How many events before it nobody gets.
    func tell(_ account: String, _ kind: String, _ id: String? = nil, skipped: Int64 = 0) {
        let number = state.withLock { state in
            state.lastEvent += 1 + skipped
            return state.lastEvent
        }
        publish(
            PersonChanged.name,
            PersonChanged(epoch: epoch, number: number, account: .sample(account), kind: kind, id: id))
    }

    private func publish(_ name: String, _ event: some Encodable) {
        guard let publisher = state.withLock(\.publisher), let json = try? JSONCoder.encode(event) else { return }
        publisher.publish(name, json)
    }

    // MARK: Commands

    /// Runs it at the endpoints that the gateway in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let publisher = try EventPublisher(
                bus: bus, endpoint: "ipc://\(folder)/run/people-events.sock", logger: quietLogger)
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/people.sock", router: router, logger: quietLogger)
            state.withLock { $0.publisher = publisher }
            let running = Task { try await server.run() }
            let announcing = Task {
                while !Task.isCancelled {
                    announce()
                    try await Task.sleep(for: .seconds(1))
                }
            }
            defer {
                announcing.cancel()
                running.cancel()
                state.withLock { $0.publisher = nil }
            }
            return try await body()
        }
    }

    private var router: CommandRouter {
        var router = CommandRouter()
        router.on(ReadDeviceChanges.self) { command, _ in
            self.state.withLock { state in
                state.reads += 1
                let rest = state.ended.drop { $0.number <= command.after }
                let page = Array(rest.prefix(DevicesChanged.maxEnds))
                return DevicesChanged(after: command.after, ended: page, more: page.count < rest.count, keys: state.keys)
            }
        }
        answerPersons(&router)
        answerFriends(&router)
        answerSuperUsers(&router)
        return router
    }

    private func answer<C: Command>(_ type: C.Type, _ reply: C.Reply, _ router: inout CommandRouter) {
        commands.answer(type, in: &router) { _, _ in reply }
    }

    private func answerPersons(_ router: inout CommandRouter) {
        let token = ExchangeDeviceToken.Reply(token: Secret("token"), expires: .now)
        answer(ListProviders.self, .init(providers: [.example]), &router)
        answer(BeginOpenIDSignIn.self, .init(url: "https://login.example.edu/", flow: Secret("flow")), &router)
        answer(ChallengeDevice.self, .init(nonce: Secret("nonce"), expires: .now), &router)
        answer(BeginDevice.self, .example, &router)
        answer(AddPerson.self, .example, &router)
        answer(ExchangeDeviceToken.self, token, &router)
        answer(GetPerson.self, .example, &router)
        answer(LinkIdentity.self, .example, &router)
        answer(UnlinkIdentity.self, .example, &router)
        answer(ChangePersonPassword.self, .init(), &router)
        answer(UseAccessCode.self, .example, &router)
        answer(ListDevices.self, .init(devices: [.example]), &router)
        answer(RegisterDevice.self, .example, &router)
        answer(EndDevice.self, .init(), &router)
        answer(GetProfile.self, .example, &router)
        answer(SetProfile.self, .example, &router)
        answer(ViewPerson.self, .example, &router)
        answer(ListClassmates.self, .init(people: [.example]), &router)
        answer(SearchPersons.self, .init(accounts: [.sample("bob")]), &router)
        answer(GetPushPreferences.self, .example, &router)
        answer(SetPushPreferences.self, .example, &router)
    }

    private func answerFriends(_ router: inout CommandRouter) {
        answer(ListFriends.self, FriendList(friends: [.sample("bob")]), &router)
        answer(ListFriendRequests.self, FriendRequests(received: [], asked: []), &router)
        answer(AskFriend.self, FriendState(account: .sample("bob"), state: .asked), &router)
        answer(AnswerFriend.self, .init(), &router)
        answer(RemoveFriend.self, .init(), &router)
        answer(ListBlocked.self, .init(blocked: []), &router)
        answer(BlockPerson.self, .init(), &router)
    }

    private func answerSuperUsers(_ router: inout CommandRouter) {
        let code = AccessCode(
            id: ObjectID(), grants: .professor, note: nil, uses: 1, used: 0, created: .now, expires: .now)
        answer(ImportAccounts.self, .init(outcomes: []), &router)
        answer(ListAccessCodes.self, .init(accessCodes: [code]), &router)
        answer(AddAccessCode.self, .init(accessCode: code, code: Secret("K7QF-2M9X-ZB4T")), &router)
        answer(RemoveAccessCode.self, .init(), &router)
    }
}
