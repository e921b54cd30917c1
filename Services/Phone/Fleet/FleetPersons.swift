import Base
import FoundationEssentials
import Logging
import MobileApp
import NIOHTTP1
import Synchronization

/// The persons of a fleet: each has an account, and is signed in on two phones. In pairs they become friends and part again, until the fleet
/// ends: one asks, which the other's phones show, and the other accepts, which the asker's phones show.
final class FleetPersons: Sendable {
    /// Not done yet: it is tried again.
    private struct NotYet: Error {}

    static let phonesPerPerson = 2
    let count: Int
    /// The phones of person 0, those of person 1, and so on.
    private let phones: [SimulatedPhone]
    private let ledger: PersonLedger
    /// The place in the ledger of the first of them.
    private let first: Int
    private let identityEmulator: String
    private let network: Network
    private let logger: Logger
    /// Names of accounts are never given again.
    private let prefix = "fleet-" + String(UInt64.random(in: .min ... .max), radix: 36)
    private let password = "fleet-" + String(UInt64.random(in: .min ... .max), radix: 36)
    private let state = Mutex((signedIn: 0, meeting: 0, isEnding: false))

    /// How many persons sign in at once.
    private static let maxAtOnce = 16
    /// The pause before something is tried again, and between two checks.
    private static let pause = Duration.milliseconds(500)
    /// The pause between two meetings of a pair.
    private static let rest = Duration.seconds(3)

    /// - Parameters:
    ///   - phones: All phones of the fleet. The last ones have persons: the first ones may be disturbed.
    ///   - identityEmulator: Its address. If it answers, the persons sign in with its tokens of Firebase, else with a password.
    init(
        count: Int, of phones: [SimulatedPhone], _ ledger: PersonLedger, identityEmulator: String, network: Network,
        logger: Logger
    ) {
        self.count = count
        self.phones = phones.suffix(count * Self.phonesPerPerson)
        first = phones.count - self.phones.count
        self.ledger = ledger
        self.identityEmulator = identityEmulator
        self.network = network
        self.logger = logger
    }

    /// Whether every person is signed in, and the hub knows how both phones are reached.
    var areSignedIn: Bool { state.withLock { $0.signedIn == count } }

    /// Whether no pair meets any more, and every push was shown.
    var areDone: Bool {
        state.withLock { $0.meeting == 0 } && ledger.isComplete(on: first..<first + phones.count)
    }

    /// `nil` for a fleet without persons.
    var report: PersonReport? { count == 0 ? nil : ledger.report(accounts: state.withLock(\.signedIn)) }

    /// No pair meets once more.
    func end() { state.withLock { $0.isEnding = true } }

    /// Signs the persons in, and lets them meet, until the task is cancelled.
    func run() async {
        guard count > 0 else { return }
        let usesEmulator = (try? await emulatorToken(of: 0)) != nil
        await withTaskGroup(of: Void.self) { group in
            for person in 0..<count {
                if person >= Self.maxAtOnce { await group.next() }
                group.addTask { await self.signIn(person, usesEmulator: usesEmulator) }
            }
        }
        guard !Task.isCancelled else { return }
        logger.info("every person is signed in", metadata: ["accounts": "\(count)", "at the emulator": "\(usesEmulator)"])
        await withTaskGroup(of: Void.self) { group in
            for asker in stride(from: 0, to: count - 1, by: 2) { group.addTask { await self.meet(asker, asker + 1) } }
        }
    }

    private func name(_ person: Int) -> String { "\(prefix)-\(person)" }

    /// The places of a person's phones in the ledger.
    private func places(_ person: Int) -> Range<Int> {
        let start = first + person * Self.phonesPerPerson
        return start..<start + Self.phonesPerPerson
    }

    private func phones(of person: Int) -> ArraySlice<SimulatedPhone> {
        phones[person * Self.phonesPerPerson..<(person + 1) * Self.phonesPerPerson]
    }

    // MARK: Signing in

    private func signIn(_ person: Int, usesEmulator: Bool) async {
        var isRegistered = false
        for phone in phones(of: person) {
            await untilDone(person) { [isRegistered] in
                let credential =
                    usesEmulator
                    ? Account.Credential.firebase(idToken: try await self.emulatorToken(of: person))
                    : .password(account: self.name(person), password: self.password)
                do {
                    let name = self.name(person)
                    if !isRegistered { try await phone.app.account.register(name, with: credential, key: name) }
                } catch let refusal as Account.Refusal where refusal.status == 409 {
                    // An earlier attempt, whose answer was lost.
                }
                try await phone.app.account.signIn(credential)
            }
            isRegistered = true
            await untilDone(person) {
                guard try await phone.app.account.devices().contains(where: { $0.isCurrent && $0.hasPushes }) else {
                    throw NotYet()
                }
            }
        }
        if !Task.isCancelled { state.withLock { $0.signedIn += 1 } }
    }

    private func emulatorToken(of person: Int) async throws -> String {
        let body: JSONValue = ["provider": "firebase", "sub": .string(name(person))]
        let answer = try await network.answer(.POST, identityEmulator + "/control/token", body: body.data)
        guard answer.status == 200, let token = try JSONValue(parsing: answer.body)["token"]?.string else { throw NotYet() }
        return token
    }

    // MARK: Friends

    private func meet(_ asker: Int, _ asked: Int) async {
        while !Task.isCancelled {
            let isOver = state.withLock { state in
                if !state.isEnding { state.meeting += 1 }
                return state.isEnding
            }
            if isOver { return }
            let friends = "/user/friends"
            await untilDone(asker) {
                try await self.ask(asker, .post, friends, ["account": .string(self.name(asked))])
            }
            await expect("friend_request", by: asked)
            await untilDone(asked) {
                _ = try? await self.ask(asked, .put, "\(friends)/\(self.name(asker))", ["accept": true])
                // The answer may have been lost.
                let known = try await self.ask(asked, .get, friends)["friends"]?.elements ?? []
                guard known.contains(.string(self.name(asker))) else { throw NotYet() }
            }
            await expect("friend_accepted", by: asker)
            await untilDone(asker) { try await self.ask(asker, .delete, "\(friends)/\(self.name(asked))") }
            state.withLock { $0.meeting -= 1 }
            try? await Task.sleep(for: Self.rest)
        }
    }

    /// Waits until both phones of a person have shown a push. A pair whose push is missing does not go on, so that it stays missing.
    private func expect(_ kind: String, by person: Int) async {
        ledger.expect(kind, on: places(person))
        while !Task.isCancelled, !ledger.isComplete(on: places(person)) { try? await Task.sleep(for: Self.pause) }
    }

    /// A request of a person, on one of the two phones.
    @discardableResult
    private func ask(
        _ person: Int, _ method: HubRequest.Method, _ path: String, _ body: JSONValue? = nil
    ) async throws -> JSONValue {
        guard let phone = phones(of: person).randomElement() else { throw NotYet() }
        let answer = try await phone.app.account.request(HubRequest(method, path, body: body?.data ?? Data()))
        guard (200..<300).contains(answer.status) else { throw HubFailure.refused(status: answer.status, path: path) }
        return answer.body.isEmpty ? [:] : try JSONValue(parsing: answer.body)
    }

    /// Tries something again until it succeeds, or the task is cancelled.
    private func untilDone(_ person: Int, _ work: @Sendable () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await work()
            } catch is NotYet {
            } catch {
                logger.debug("a person tries again", metadata: ["account": "\(name(person))", "error": "\(error)"])
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
