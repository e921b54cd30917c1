import Crypto
import FoundationEssentials
import Schemas
import Store

extension Transaction {
    /// The sign-in or token with a hash.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` if there is none, or its account cannot use it.
    func credential(_ hash: CredentialHash) throws -> Credential {
        guard let credential = try storedCredential(hash), credential.isValid(at: .now) else {
            throw CommandFailure(.notFound, "no such credential")
        }
        return credential
    }

    private func storedCredential(_ hash: CredentialHash) throws -> Credential? {
        let sequence = try peopleSequence()
        if let signIn = try get(hash.description, from: PeopleStore.signIns)?.document {
            return try activeAccount(signIn.account).map { credential(of: signIn, $0, sequence: sequence) }
        }
        guard let token = try token(hash) else { return nil }
        return try activeAccount(token.account).map { credential(of: token, $0, sequence: sequence) }
    }

    /// The credential of a sign-in.
    ///
    /// - Parameter sequence: The sequence number of the latest change that it reflects.
    func credential(of signIn: SignInDocument, _ account: AccountDocument, sequence: Int64) -> Credential {
        Credential(
            kind: .signIn, id: signIn.number, account: account.name, displayName: account.displayName, role: account.role,
            rights: AccountRight.allCases.filter(account.role.rights.contains), expires: signIn.expires,
            maxExpires: signIn.maxExpires, confirmedUntil: signIn.confirmedUntil, secondFactor: account.secondFactor(of: signIn),
            sequence: sequence)
    }

    /// The credential of a token.
    ///
    /// - Parameter sequence: The sequence number of the latest change that it reflects.
    func credential(of token: TokenDocument, _ account: AccountDocument, sequence: Int64) -> Credential {
        Credential(
            kind: .token, id: token.id, account: account.name, displayName: account.displayName, role: account.role,
            rights: token.rights.filter(account.role.rights.contains), scope: token.scope, expires: account.end(of: token),
            isOperator: account.role == .superUser ? token.isOperator : nil, secondFactor: account.secondFactorState,
            sequence: sequence)
    }

    func token(_ hash: CredentialHash) throws -> TokenDocument? {
        try page(of: PeopleStore.tokens, Query(where: PeopleStore.tokenHash == hash.description), limit: 1).documents.first?
            .document
    }

    /// The account with an id, if it can use its credentials. A student's has none.
    func activeAccount(_ id: String) throws -> AccountDocument? {
        try get(id, from: PeopleStore.accounts)?.document.activeOrNil
    }
}

extension AccountDocument {
    fileprivate func secondFactor(of signIn: SignInDocument) -> SecondFactor {
        switch secondFactorState {
        case .set where signIn.lacksCode == true: .pending
        case .required where signIn.hasProvidersFactor == true: .none
        case let state: state
        }
    }

    fileprivate var activeOrNil: AccountDocument? { isActiveStaff ? self : nil }
}

extension CredentialHash {
    init(of secret: Secret) {
        self.init(digest: SHA256.hash(data: Data(secret.text.utf8)))
    }
}
