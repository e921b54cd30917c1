import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands with which persons find and see each other.
    mutating func servePersons(_ people: People, _ looks: LookCounts) {
        on(ViewPerson.self) { command, context in
            let (caller, relation, view) = try await people.store.snapshot { transaction in
                let caller = try transaction.callingStudent(of: context)
                let relation = try transaction.relation(of: caller, to: command.account)
                let view = try transaction.view(
                    of: command.account, for: caller, relation, isClassmate: command.classmate == true)
                return (caller.id, relation, view)
            }
            // A classmate is no stranger.
            if relation == nil || relation == .stranger && view?.relation != .classmates { try looks.look(by: caller) }
            guard let view else { throw CommandFailure.noPerson(command.account) }
            return view
        }
        on(SearchPersons.self) { command, context in
            let caller = try await people.store.snapshot { try $0.callingStudent(of: context) }
            try looks.look(by: caller.id)
            return SearchPersons.Reply(
                accounts: try await people.store.snapshot { try $0.students(beginning: command.text, for: caller) })
        }
    }
}

extension Transaction {
    /// How a person stands to another one; `nil` if one of the two does not find the other.
    fileprivate func relation(of caller: AccountDocument, to other: AccountName) throws -> PersonView.Relation? {
        guard caller.name != other else { return .oneself }
        return try friendship(of: caller, with: other.key).relation
    }

    /// What a person sees of another one; `nil` if there is none to be seen.
    fileprivate func view(
        of other: AccountName, for caller: AccountDocument, _ relation: PersonView.Relation?, isClassmate: Bool
    ) throws -> PersonView? {
        guard let relation, let account = try findableStudent(other.key) else { return nil }
        let showsMutual = relation == .friends || relation == .received
        return PersonView(
            account.name, relation, try profile(of: account), isClassmate: isClassmate,
            mutualFriends: showsMutual ? try mutualFriends(of: caller.id, and: account.id) : nil)
    }

    private static var pageSize: Int { 50 }
    /// After this many pages a search ends with what it has found, so that names of which most are blocked or disabled cost little.
    private static var maxPages: Int { 20 }

    /// The names of students that begin with a text, without those whom the caller does not find.
    fileprivate func students(beginning text: String, for caller: AccountDocument) throws -> [AccountName] {
        // A text that is no name is the beginning of none.
        guard let beginning = AccountName(text)?.key else { return [] }
        var found: [AccountName] = []
        func add(_ account: AccountDocument) throws {
            guard account.isActiveStudent, account.id != caller.id,
                try !friendship(of: caller, with: account.id).isBlocked
            else { return }
            found.append(account.name)
        }
        // The others begin behind it.
        if let account = try get(beginning, from: PeopleStore.accounts)?.document { try add(account) }
        let query = Query(where: PeopleStore.role == .student, PeopleStore.removed == nil)
        var cursor: Cursor? = Cursor(afterID: beginning)
        for _ in 0..<Self.maxPages where cursor != nil {
            let page = try page(of: PeopleStore.accounts, query, after: cursor, limit: Self.pageSize)
            for account in page.documents.map(\.document) {
                guard account.id.hasPrefix(beginning), found.count < PersonLimits.maxFound else { return found }
                try add(account)
            }
            cursor = page.next
        }
        return found
    }
}
