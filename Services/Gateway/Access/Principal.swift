import Schemas

/// The account that makes a request, and what its credential allows.
struct Principal: Hashable, Sendable {
    let credential: Credential
    let hash: CredentialHash

    init(_ credential: Credential, hash: CredentialHash) {
        self.credential = credential
        self.hash = hash
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

    /// Whether it administers everything, and not only a part of the cube.
    var isAdministrator: Bool { has(.administer) && scope == nil && !lacksSecondFactor }

    /// Whether a second factor is missing, without which it may do nothing else.
    var lacksSecondFactor: Bool { [.required, .pending].contains(credential.secondFactor) && !isOperator }

    /// Whether the password was confirmed a short time ago.
    func isConfirmed(at now: UnixMilliseconds) -> Bool {
        isOperator || credential.isConfirmed(at: now)
    }
}
