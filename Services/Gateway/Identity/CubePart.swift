import Schemas
import Synchronization

/// The part of one version of the cube that a caller may send to. Callers whom the same lists name, with the same scope, have the same
/// part: most communicators.
struct CubePart: Hashable, Sendable {
    /// The numbers of the lists in ``AccessLists`` that allow the caller; `nil` for every topic in the scope, including those of
    /// deleted subjects.
    let lists: Set<Int>?
    /// The scope of a token; `nil` for the whole cube.
    let scope: [TopicPrefix]?
}

/// The access lists of the subjects of one version of the cube, numbered. Subjects whose path names the same accounts share one. The same
/// lists have the same numbers. Pure.
struct AccessLists: Hashable, Sendable {
    /// The accounts of each list; `nil` for the empty list, which allows all accounts.
    private let lists: [Set<AccountName>?]
    private let numbers: [Set<AccountName>?: Int]
    /// The lists that name each account.
    private let named: [AccountName: Set<Int>]

    init(_ lists: Set<Set<AccountName>?>) {
        let sorted = lists.map { (list: $0, text: $0.map { $0.map(\.key).sorted().joined(separator: " ") }) }
            .sorted { ($0.text == nil ? 0 : 1, $0.text ?? "") < ($1.text == nil ? 0 : 1, $1.text ?? "") }
        self.lists = sorted.map(\.list)
        var numbers: [Set<AccountName>?: Int] = [:]
        var named: [AccountName: Set<Int>] = [:]
        for (number, list) in self.lists.enumerated() {
            numbers[list] = number
            for account in list ?? [] { named[account, default: []].insert(number) }
        }
        self.numbers = numbers
        self.named = named
    }

    /// The number of one of the lists.
    func number(of list: Set<AccountName>?) -> Int {
        guard let number = numbers[list] else { preconditionFailure("a subject has a list that was not added") }
        return number
    }

    func allows(_ account: AccountName, _ number: Int) -> Bool {
        lists[number]?.contains(account) ?? true
    }

    /// The numbers of the lists that allow an account.
    func numbers(allowing account: AccountName) -> Set<Int> {
        (named[account] ?? []).union(numbers[nil].map { [$0] } ?? [])
    }
}

/// The topics of the parts of one version of the cube, each determined once.
final class CubePartTopics: Sendable {
    private static let maxParts = 100

    private let topics = Mutex<[CubePart: [TopicKey]]>([:])

    /// - Parameter determine: Called if the part's topics are not known.
    func topics(of part: CubePart, _ determine: () -> [TopicKey]) -> [TopicKey] {
        if let known = topics.withLock({ $0[part] }) { return known }
        let found = determine()
        topics.withLock { topics in
            if topics.count >= Self.maxParts { topics.removeAll() }
            topics[part] = found
        }
        return found
    }
}
