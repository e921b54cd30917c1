import MobileApp
import Synchronization

/// The pushes to the persons of a fleet, counted outside their apps: those that phones should have shown, and those that they have.
final class PersonLedger: Sendable {
    private struct Shown {
        /// How often each push was shown, by its id.
        var times: [String: Int] = [:]
        var expected = 0

        var missing: Int { max(0, expected - times.count) }
    }

    /// By phone and kind.
    private let state: Mutex<[[String: Shown]]>

    init(count: Int) {
        state = Mutex(Array(repeating: [:], count: count))
    }

    /// The operating system of a phone has shown a pop-up.
    func note(_ popup: Popups.Popup, on phone: Int) {
        guard let push = PersonPush(data: popup.data) else { return }
        state.withLock { $0[phone][push.kind, default: Shown()].times[push.id, default: 0] += 1 }
    }

    /// Something has happened of which phones should show one further push.
    func expect(_ kind: String, on phones: Range<Int>) {
        state.withLock { state in
            for phone in phones { state[phone][kind, default: Shown()].expected += 1 }
        }
    }

    /// Whether phones have shown all that they should.
    func isComplete(on phones: Range<Int>) -> Bool {
        state.withLock { state in state[phones].allSatisfy { $0.values.allSatisfy { $0.missing == 0 } } }
    }

    /// - Parameter accounts: How many persons are signed in on both of their phones.
    func report(accounts: Int) -> PersonReport {
        state.withLock { state in
            let all = state.flatMap(\.values)
            return PersonReport(
                accounts: accounts, expected: all.reduce(0) { $0 + $1.expected },
                missing: all.reduce(0) { $0 + $1.missing },
                doubled: all.reduce(0) { $0 + $1.times.values.reduce(0) { $0 + $1 - 1 } },
                stray: all.reduce(0) { $0 + max(0, $1.times.count - $1.expected) })
        }
    }
}

/// What the persons of a fleet have seen.
struct PersonReport: Encodable, Hashable, Sendable {
    /// How many are signed in on both of their phones.
    let accounts: Int
    /// The sum over all phones of the pushes that they should have shown.
    let expected: Int
    /// Those of ``expected`` that were not shown.
    let missing: Int
    /// How often a push was shown once more.
    let doubled: Int
    /// How many were shown that no phone of the person should have.
    let stray: Int
}
