import Schemas
import Storage

extension ReadPeopleChanges {
    func answer(from transaction: Transaction) throws -> PeopleChanged {
        try transaction.changes(after: after, upTo: transaction.peopleSequence())
    }
}

extension PeopleChanged {
    /// The latest changes, for the repeated event.
    static func latest(in transaction: Transaction) throws -> PeopleChanged {
        let sequence = try transaction.peopleSequence()
        return try transaction.changes(after: max(0, sequence - maxRepeated), upTo: sequence)
    }
}

extension Transaction {
    fileprivate func changes(after: Int64, upTo sequence: Int64) throws -> PeopleChanged {
        let missing = sequence - after
        if missing == 0 { return PeopleChanged(after: after) }
        guard (1...Int64(PeopleChanged.maxChanges)).contains(missing) else {
            return PeopleChanged(allUpTo: sequence, after: after)
        }
        let query = Query(where: PeopleStore.changeSequence > after, order: .ascending(PeopleStore.changeSequence))
        let changes = try page(of: PeopleStore.changes, query, limit: PeopleChanged.maxChanges).documents
        // Old changes are removed.
        guard changes.count == missing else { return PeopleChanged(allUpTo: sequence, after: after) }
        return PeopleChanged(changes.map(\.document.change), after: after)
    }
}
