import Schemas
import Storage

extension PeopleChange {
    /// Adds a sign-in. It ends the oldest ones of an account that has too many.
    ///
    /// - Returns: Its credential.
    mutating func add(_ signIn: SignInDocument, of account: AccountDocument) throws -> Credential {
        guard let hash = CredentialHash(signIn.id) else { throw CommandFailure(.internal, "the sign-in has no hash") }
        try endOldestSignIns(of: account)
        try transaction.insert(signIn, into: PeopleStore.signIns)
        credentialChanged(hash)
        return try credential(of: signIn, account)
    }

    /// Makes room for a further one.
    private mutating func endOldestSignIns(of account: AccountDocument) throws {
        // Not all, if an earlier version has let in more: the next sign-ins end the others.
        let query = Query(where: PeopleStore.signInAccount == account.id)
        let signIns = try transaction.page(of: PeopleStore.signIns, query, limit: 2 * PeopleLimits.maxSignIns).documents.map(
            \.document)
        for signIn in signIns.sorted(by: { $0.created < $1.created }).dropLast(PeopleLimits.maxSignIns - 1) {
            guard let hash = CredentialHash(signIn.id) else { continue }
            try transaction.delete(signIn.id, from: PeopleStore.signIns)
            credentialChanged(hash, ended: true)
        }
    }

    /// The credential of a sign-in after this change.
    func credential(of signIn: SignInDocument, _ account: AccountDocument) throws -> Credential {
        transaction.credential(of: signIn, account, sequence: try sequence)
    }
}
