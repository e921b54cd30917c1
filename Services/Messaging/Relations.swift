import Bus
import Schemas

/// How persons stand to each other. The people service knows it, and is asked each time, in the person's name.
struct Relations: Sendable {
    let people: CommandClient

    /// How a person stands to others.
    ///
    /// - Parameter account: The person who asks. With nobody to ask about, the people service is not asked.
    /// - Returns: The relation to each of them.
    /// - Throws: ``CommandFailure``: `unavailable` if the people service cannot say it; `unauthenticated` or `forbidden` if the
    ///   account is disabled, or no student's.
    func check(
        _ accounts: [AccountName], by account: AccountName
    ) async throws -> [AccountName: CheckFriends.Relation] {
        let asked = Array(Set(accounts))
        var found: [AccountName: CheckFriends.Relation] = [:]
        for start in stride(from: 0, to: asked.count, by: MessagingLimits.maxAtOnce) {
            let part = Array(asked[start...].prefix(MessagingLimits.maxAtOnce))
            let relations = try await ask(CheckFriends(part), by: account).relations
            guard relations.count == part.count else {
                throw CommandFailure(.internal, "friend.check asked about \(part.count) persons and got \(relations.count)")
            }
            for (name, relation) in zip(part, relations) { found[name] = relation }
        }
        return found
    }

    /// A person's friends. The errors are those of ``check(_:by:)``.
    func friends(of account: AccountName) async throws -> [AccountName] {
        try await ask(ListFriends(), by: account).friends
    }

    private func ask<C: Command>(_ command: C, by account: AccountName) async throws(CommandFailure) -> C.Reply {
        do throws(CommandFailure) {
            return try await people.request(command, context: CallerContext(actor: account.description))
        } catch {
            switch error.status {
            case .unauthenticated, .forbidden: throw error
            default:
                // Its text may say that the outcome is unknown, which is so for this question alone.
                throw CommandFailure(
                    .unavailable, "who may write to whom cannot be checked now; nothing was done", retryAfter: error.retryAfter)
            }
        }
    }
}

extension CheckFriends.State {
    /// Whether the person may write to the other one.
    ///
    /// - Parameter classmate: Whether the hub lets the two write to each other as classmates.
    func allows(classmate: Bool) -> Bool { self == .friends || self == .strangers && classmate }

    /// Whether nothing of one is shown to the other one any more.
    ///
    /// - Parameter classmate: Whether they wrote as classmates.
    func parts(classmate: Bool) -> Bool { self == .blocked || self == .strangers && !classmate }
}
