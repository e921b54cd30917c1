import Schemas

/// The account that makes a request, and what its credential allows.
struct Principal: Hashable, Sendable {
    /// On the heap: each step of a request copies its context, and a credential has a dozen parts to copy.
    private final class Storage: Sendable {
        let credential: Credential
        let hash: CredentialHash

        init(_ credential: Credential, _ hash: CredentialHash) {
            self.credential = credential
            self.hash = hash
        }
    }

    private let storage: Storage

    init(_ credential: Credential, hash: CredentialHash) {
        storage = Storage(credential, hash)
    }

    var credential: Credential { storage.credential }
    var hash: CredentialHash { storage.hash }

    static func == (one: Principal, other: Principal) -> Bool {
        one.storage === other.storage || one.credential == other.credential && one.hash == other.hash
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    var account: AccountName { credential.account }
    /// The account's name, as the commands of its requests carry it.
    var actor: String { account.description }
    var role: Role { credential.role }
    /// The parts of the cube that a token is restricted to; `nil` for the whole cube.
    var scope: [TopicPrefix]? { credential.scope }
    /// Whether the credential is the operator's token, which the file `token` in the state directory contains. It has all rights,
    /// needs neither a confirmation nor a second factor, and its requests are not limited.
    var isOperator: Bool { credential.isOperator ?? false }

    func has(_ right: AccountRight) -> Bool { credential.rights.contains(right) }

    /// Whether no access list and no scope restricts where it may send.
    var maySendEverywhere: Bool { role == .superUser && scope == nil }

    /// Whether it may administer everything, not only a part of the cube.
    var isAdministrator: Bool { has(.administer) && scope == nil && !lacksSecondFactor }

    /// Whether a second factor is missing, without which it may do nothing else.
    var lacksSecondFactor: Bool {
        switch credential.secondFactor {
        case .required, .pending: !isOperator
        case .none, .set: false
        }
    }

    /// Whether the password was confirmed a short time ago.
    func isConfirmed(at now: UnixMilliseconds) -> Bool {
        isOperator || credential.isConfirmed(at: now)
    }
}

/// What routes and their handlers require of a caller.
extension Principal {
    /// - Throws: ``Problem`` if a second factor is required that is missing.
    func requireSecondFactor() throws(Problem) {
        guard lacksSecondFactor else { return }
        throw Problem(.forbidden, missingFactor)
    }

    private var missingFactor: String {
        switch (credential.secondFactor, credential.kind) {
        case (.pending, _): "Give the code of your authenticator app first: PUT /session with \"code\"."
        case (_, .token): "The tokens of \(account) do not work until it has set up a second factor."
        case (_, .signIn):
            "\(account) must set up a second factor first: POST /account/\(account)/second-factor after PUT /session."
        }
    }

    /// - Throws: ``Problem`` if the password was not confirmed a short time ago.
    func requireConfirmation() throws(Problem) {
        guard !isConfirmed(at: .now) else { return }
        let isToken = credential.kind == .token
        throw Problem(
            .confirmationRequired,
            isToken
                ? "A token cannot do this, except the operator's: it requires a sign-in with a confirmed password."
                : "Confirm the password by PUT /session; that counts for a few minutes.")
    }

    /// - Throws: ``Problem`` unless it has the right.
    func require(_ right: AccountRight) throws(Problem) {
        try requireSecondFactor()
        guard !has(right) else { return }
        throw Problem(.forbidden, "This requires the right \"\(right.rawValue)\", which \(name) does not have.")
    }

    /// - Parameter part: The part of the cube that a request is about; `nil` if it is about anything else.
    /// - Throws: ``Problem`` if it is a token that is restricted to other parts.
    func requireScope(for part: TopicPrefix?) throws(Problem) {
        guard let scope else { return }
        // A moved subject keeps its id, but the path has the ids of its new channel and area.
        if let part, scope.contains(where: { $0.subject == nil ? $0.contains(part) : $0.subject == part.subject }) { return }
        throw Problem(.forbidden, "This is outside of the part of the cube to which \(name) is restricted.")
    }

    /// - Throws: ``Problem`` unless it administers everything.
    func requireAdministrator() throws(Problem) {
        try require(.administer)
        try requireScope(for: nil)
    }

    /// - Throws: ``Problem`` if it is a token.
    func requirePerson() throws(Problem) {
        guard credential.kind == .token else { return }
        throw Problem(.forbidden, "A token cannot do this: it takes a second person, who signs in.")
    }

    /// The caller in the text of an error.
    private var name: String { credential.kind == .token ? "this token of \(account)" : "\(account)" }
}
