import Schemas
import Store

/// The import of a list of students.
extension PeopleChange {
    /// Does the rows one after the other. A row that is refused changes nothing.
    ///
    /// - Returns: The outcomes, and the accounts that were changed.
    /// - Throws: ``CommandFailure`` with `conflict` if no OpenID Connect provider is set up.
    mutating func importAccounts(
        _ command: ImportAccounts
    ) throws -> (outcomes: [ImportOutcome], changed: [AccountDocument]) {
        var outcomes: [ImportOutcome] = []
        var changed: [AccountDocument] = []
        for row in command.rows {
            let person = try openID(row.oidc)
            do {
                guard let found = try imported(row, person) else {
                    if !command.dryRun { try add(row, person) }
                    outcomes.append(ImportOutcome(account: row.account, outcome: .added))
                    continue
                }
                var new = found
                new.take(row)
                outcomes.append(ImportOutcome(account: found.name, outcome: new == found ? .unchanged : .changed))
                guard new != found, !command.dryRun else { continue }
                changed.append(try update(found.name, as: ImportAccounts.name) { $0.take(row) })
            } catch let failure as CommandFailure where failure.status == .conflict {
                outcomes.append(ImportOutcome(account: row.account, outcome: .refused, reason: failure.message))
            }
        }
        return (outcomes, changed)
    }

    /// The account of a row; `nil` if it is to be added.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if it can be neither. An account of another person is never given to this one: who has
    ///   chosen the name could use it still.
    private func imported(_ row: ImportedAccount, _ person: OpenIDSubject) throws -> AccountDocument? {
        if let holder = try account(of: person), holder.removed == nil, holder.name != row.account {
            throw CommandFailure(.conflict, "the account \(holder.name) has this identifier at the provider")
        }
        guard let found = try transaction.get(row.account.key, from: PeopleStore.accounts)?.document, found.removed == nil else {
            try requireUnused(row.account)
            return nil
        }
        guard found.role == .student else { throw CommandFailure(.conflict, "\(found.name) is no account of a student") }
        guard found.openID == person else {
            throw CommandFailure(
                .conflict, "\(found.name) is not the account of this person; if it should be, link it (msi account link)")
        }
        return found
    }

    private mutating func add(_ row: ImportedAccount, _ person: OpenIDSubject) throws {
        var account = AccountDocument(name: row.account, role: .student, password: nil, openID: person, created: now)
        account.take(row)
        _ = try add(account)
    }
}

extension AccountDocument {
    /// Takes over what a row says. What it does not say stays.
    fileprivate mutating func take(_ row: ImportedAccount) {
        if let name = row.displayName { displayName = name }
        if let isProfessor = row.professor { professor = isProfessor ? true : nil }
    }
}
