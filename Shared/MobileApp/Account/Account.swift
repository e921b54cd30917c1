public import FoundationEssentials
import Base
import GRDB
import Schemas

/// The person's account on this device. The device has a key that never leaves it (``SecretStore``). It signs what the hub asks for, and
/// gets tokens of an hour. No secret is sent, shown or stored beside them.
///
/// What students do together has no function here: ``request(_:)`` asks the hub, by the routes of students in `Services/Gateway/API.md`.
public final class Account: Sendable {
    /// Nobody is signed in on this device.
    public struct SignedOut: Error, Hashable, Sendable {}

    /// The platform has no ``SecretStore``, so nobody can sign in.
    public struct NoSecretStore: Error, Hashable, Sendable {}

    /// The hub does not do what it was asked for.
    public struct Refusal: Error, Hashable, Sendable {
        /// Its status, such as 404 if nobody has an account with this credential, and 409 if the name is taken.
        public let status: Int
        /// What was refused, such as `password` or `code`; `nil` if the hub names nothing.
        public let field: String?
        /// One English sentence; `nil` without one.
        public let detail: String?

        init(_ answer: HubAnswer) {
            let problem = try? JSONValue(parsing: answer.body)
            status = answer.status
            field = problem?["field"]?.string
            detail = problem?["detail"]?.string
        }
    }

    let platform: Platform
    let database: AppDatabase
    /// Called after each change of what this says.
    let changed: @Sendable () -> Void
    /// Sign-ins and new tokens come one after the other.
    let alone = OneAtATime()
    /// Requests to tell the hub how this device is reached.
    let registrations = RefreshRequests()

    /// The fields of a refusal that say that the hub no longer knows this device.
    private static let ends: Set = ["device", "proof"]

    init(platform: Platform, database: AppDatabase, changed: @escaping @Sendable () -> Void) {
        self.platform = platform
        self.database = database
        self.changed = changed
        // What the app could not tell before it ended.
        registrations.add(.now)
    }

    // MARK: Who is signed in

    /// The name of the account that is signed in on this device; `nil` for none.
    public func name() async throws -> String? { try await memory()?.account }

    public func isSignedIn() async throws -> Bool { try await memory() != nil }

    /// Whether the hub has signed this device out, such as from another device, and nobody has signed in since.
    public func wasSignedOut() async throws -> Bool { try await database.db.read(AccountMemory.isEnded) }

    func memory() async throws -> AccountMemory? { try await database.db.read(AccountMemory.read) }

    /// What the SDK of a provider puts into an ID token that is made for this device: its `nonce`.
    public func thumbprint() async throws -> String {
        let store = try secrets()
        return store.sha256(try await store.publicKey()).base64URL
    }

    // MARK: Signing in and out

    /// Signs a person in on this device, instead of the one who was signed in.
    ///
    /// - Parameter code: A code of the authenticator app, if the account has a second factor.
    /// - Throws: ``Refusal``: 404 if nobody has an account with this credential (``register(_:with:accessCode:key:)`` makes one), 401 with the
    ///   field of what is wrong (`code` if one is needed). ``NoSecretStore``, ``HubFailure``, or the error of the connection or the store.
    public func signIn(_ credential: Credential, code: String? = nil) async throws {
        try await alone.run { [self] in
            let path = "/user"
            let document = try await authorize(
                .put, path, expecting: 200, ["credential": credential.document(code: code)], credential)
            guard let device = document["device"]?.string, let name = document["person"]?["account"]?.string,
                let token = document["token"]?.string, let ends = document["expires"]?.integer
            else { throw HubFailure.unreadable(path) }
            var memory = AccountMemory(device: device, account: name, token: token, renews: 0, told: nil)
            memory.take(token, ends: ends, now: platform.clock.now)
            try await database.db.write { [memory] db in try memory.keep(db) }
        }
        registrations.add(.now)
        changed()
    }

    /// Makes the record of a new person, who then signs in with the same credential.
    ///
    /// - Parameters:
    ///   - name: Of the account: 3 to 32 letters without accents, digits, and `.`, `_` or `-`, but not `-` first. It never changes.
    ///   - accessCode: Where registering needs one.
    ///   - key: The same for all attempts of the same registration, so that the hub does it once.
    /// - Throws: As ``signIn(_:code:)``; ``Refusal`` with 409 if the name or the credential has an account.
    public func register(
        _ name: String, with credential: Credential, accessCode: String? = nil, key: String
    ) async throws {
        var body: JSONValue = ["account": .string(name), "credential": credential.document(code: nil)]
        body["access_code"] = accessCode.map { .string($0) }
        _ = try await authorize(.post, "/user", expecting: 201, body, credential, key: key)
    }

    /// Signs the person out on this device, even if the hub cannot be told: the device's key is gone, so that it gets no token any more.
    ///
    /// - Returns: Whether the hub knows. If not, it still lists the device.
    /// - Throws: The error of the database or the store.
    @discardableResult
    public func signOut() async throws -> Bool {
        var isKnown = true
        if let memory = try await memory() {
            do {
                isKnown = try await request(HubRequest(.delete, "/user/devices/\(memory.device)")).status < 400
            } catch is SignedOut {
                // The hub has signed the device out before.
            } catch {
                isKnown = false
            }
        }
        try await alone.run { [self] in try await forget(isEnded: false) }
        return isKnown
    }

    /// Erases the person at the hub, and on this device.
    ///
    /// - Returns: The hub's report, a document in JSON.
    /// - Throws: ``SignedOut``, and as ``signIn(_:code:)``.
    public func erase() async throws -> Data {
        guard let memory = try await memory() else { throw SignedOut() }
        let report = try await proven(.erasure, subject: memory.device) { [self] proof in
            let answer = try await request(HubRequest(.post, "/user/erasure", body: proof.data))
            guard answer.status == 200 else { throw Refusal(answer) }
            return answer.body
        }
        try await alone.run { [self] in try await forget(isEnded: false) }
        return report
    }

    private func forget(isEnded: Bool) async throws {
        try await database.db.write { db in try AccountMemory.forget(isEnded: isEnded, db) }
        changed()
        try await platform.secretStore?.remove()
    }

    // MARK: Requests of the person

    /// The hub's answer to the person, of any status. If the hub does not take the token, another one is tried, once.
    ///
    /// - Throws: ``SignedOut``, such as when the hub has signed the device out; or why the app has no token and gets none: ``Refusal``,
    ///   ``HubFailure``, or the error of the connection or the store.
    public func request(_ request: HubRequest) async throws -> HubAnswer {
        let token = try await token()
        let answer = try await platform.hub.answer(to: request.adding(token))
        // Refusals of something in the body name it.
        guard answer.status == 401, Refusal(answer).field ?? "Authorization" == "Authorization" else { return answer }
        return try await platform.hub.answer(to: request.adding(try await self.token(insteadOf: token)))
    }

    /// A token that counts for some minutes, for what ``request(_:)`` cannot do, such as `GET /user/events`.
    ///
    /// - Parameter refused: One that the hub has not taken.
    /// - Throws: As ``request(_:)``.
    public func token(insteadOf refused: String? = nil) async throws -> String {
        try await alone.run { [self] in
            guard let memory = try await memory() else { throw SignedOut() }
            let isUsable = memory.token != refused
            if isUsable, platform.clock.now < memory.renews { return memory.token }
            do {
                return try await exchange(memory)
            } catch let refusal as Refusal where refusal.status == 401 && Self.ends.contains(refusal.field ?? "") {
                try? await forget(isEnded: true)
                throw SignedOut()
            } catch {
                // Gateways take it for longer while the service that gives tokens is away.
                guard isUsable, !Task.isCancelled else { throw error }
                return memory.token
            }
        }
    }

    /// A new token.
    private func exchange(_ memory: AccountMemory) async throws -> String {
        let path = "/user/token"
        let document = try await proven(.token, subject: memory.device) { [self] proof in
            var body = proof
            body["device"] = .string(memory.device)
            return try await self.document(of: HubRequest(.post, path, body: body.data), expecting: 200)
        }
        guard let token = document["token"]?.string, let ends = document["expires"]?.integer else {
            throw HubFailure.unreadable(path)
        }
        let now = platform.clock.now
        try await database.db.write { db in
            guard var current = try AccountMemory.read(db), current.device == memory.device else { return }
            current.take(token, ends: ends, now: now)
            try current.keep(db)
        }
        return token
    }
}
