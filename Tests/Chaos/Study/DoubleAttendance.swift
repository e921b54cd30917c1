import Schemas

/// That a person attends two open sessions. Nobody may.
struct DoubleAttendance: Hashable, Sendable {
    let account: AccountName
    /// The two sessions, in the order of their ids.
    let first: ObjectID
    let second: ObjectID

    /// Who attends two of some open sessions.
    ///
    /// - Parameter sessions: One of them may be there more than once.
    static func all(in sessions: [StudySession]) -> Set<DoubleAttendance> {
        var places: [AccountName: Set<ObjectID>] = [:]
        for session in sessions {
            for account in session.attendants { places[account, default: []].insert(session.id) }
        }
        var found: Set<DoubleAttendance> = []
        for (account, ids) in places {
            let sorted = ids.sorted()
            for (index, first) in sorted.enumerated() {
                for second in sorted.dropFirst(index + 1) {
                    found.insert(DoubleAttendance(account: account, first: first, second: second))
                }
            }
        }
        return found
    }
}

extension DoubleAttendance: CustomStringConvertible {
    var description: String { "\(account) is in \(first) and in \(second)" }
}
