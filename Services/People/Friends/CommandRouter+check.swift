import Bus
import Schemas
import Store

extension CommandRouter {
    /// The command with which the messaging service asks whom a person may write to.
    mutating func serveFriendChecks(_ people: People) {
        on(CheckFriends.self) { command, context in
            try await people.store.snapshot { transaction in
                let caller = try transaction.callingStudent(of: context)
                let friendships = try transaction.friendships(of: caller, with: command.accounts)
                let relations = try command.accounts.map { other in
                    try transaction.check(other, for: caller, friendships[other.key] ?? Friendship())
                }
                return CheckFriends.Reply(relations: relations)
            }
        }
    }
}

extension Transaction {
    /// How a person stands to another one. Unlike those who look for persons, friends are told apart from strangers if they are
    /// disabled: what they have written can still be read.
    fileprivate func check(
        _ other: AccountName, for caller: AccountDocument, _ friendship: Friendship
    ) throws -> CheckFriends.Relation {
        guard let account = try get(other.key, from: PeopleStore.accounts)?.document, account.role == .student,
            account.removed == nil, account.id != caller.id, !friendship.isBlocked
        else { return CheckFriends.Relation(account: other, state: .blocked) }
        let state: CheckFriends.State =
            if friendship == .friends {
                account.disabled ? .away : .friends
            } else {
                account.disabled ? .blocked : .strangers
            }
        return CheckFriends.Relation(account: account.name, state: state)
    }
}
