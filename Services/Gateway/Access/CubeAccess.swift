import Schemas

/// Who may send to which subject, by the access lists of one version of the cube (seed, "Schema", `access`). Pure.
///
/// A communicator may send to a subject if no list on its path names anyone, or if one of the lists names the account. A super user
/// may send to every subject. The scope of a token restricts both.
struct CubeAccess: Sendable {
    struct Entry: Sendable {
        let subject: Subject
        let names: CubeNames
        /// The number of the subject's list in ``AccessLists``.
        fileprivate let list: Int
    }

    private let entries: [TopicKey: Entry]
    private let lists: AccessLists
    /// The copies share it.
    private let parts = CubePartTopics()

    init(_ channels: [Channel]) {
        var found: [TopicKey: (subject: Subject, names: CubeNames, named: Set<AccountName>?)] = [:]
        for channel in channels {
            for area in channel.areas {
                for subject in area.subjects {
                    let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
                    found[subject.topicKey] = (subject, names, Self.named([channel.access, area.access, subject.access]))
                }
            }
        }
        let lists = AccessLists(Set(found.values.map(\.named)))
        entries = found.mapValues { Entry(subject: $0.subject, names: $0.names, list: lists.number(of: $0.named)) }
        self.lists = lists
    }

    /// The accounts that the lists on a path name; `nil` if they name no account, so that all may send. A text that cannot be the name
    /// of an account names no account, but closes the subject to others.
    private static func named(_ path: [[String]]) -> Set<AccountName>? {
        let texts = path.joined()
        return texts.isEmpty ? nil : Set(texts.compactMap { AccountName($0) })
    }

    /// The subject of a topic key; `nil` if there is none.
    subscript(topic: TopicKey) -> Entry? { entries[topic] }

    /// Whether an account may send to a topic. Of the topics of deleted subjects, a communicator may send to none.
    func maySend(_ principal: Principal, to topic: TopicKey) -> Bool {
        if let scope = principal.scope, !scope.contains(where: { $0.contains(topic) }) { return false }
        if principal.role == .superUser { return true }
        guard let entry = entries[topic] else { return false }
        return lists.allows(principal.account, entry.list)
    }

    /// The topics that an account may send to; `nil` for all, also those of deleted subjects.
    func topics(for principal: Principal) -> [TopicKey]? {
        part(of: principal).map(topics(of:))
    }

    // MARK: Parts

    /// The part of the cube that an account may send to; `nil` for all of it, also deleted subjects.
    func part(of principal: Principal) -> CubePart? {
        guard !principal.maySendEverywhere else { return nil }
        let isSuperUser = principal.role == .superUser
        return CubePart(lists: isSuperUser ? nil : lists.numbers(allowing: principal.account), scope: principal.scope)
    }

    /// Whether a part of this version of the cube has a topic.
    func contains(_ topic: TopicKey, in part: CubePart) -> Bool {
        if let scope = part.scope, !scope.contains(where: { $0.contains(topic) }) { return false }
        guard let lists = part.lists else { return true }
        guard let entry = entries[topic] else { return false }
        return lists.contains(entry.list)
    }

    /// The topics of the existing subjects in a part of this version of the cube, sorted. They are determined once for all callers with
    /// the same part.
    func topics(of part: CubePart) -> [TopicKey] {
        parts.topics(of: part) {
            entries.keys.filter { contains($0, in: part) }.sorted {
                ($0.channel, $0.area, $0.subject) < ($1.channel, $1.area, $1.subject)
            }
        }
    }

    /// Whether another version of the cube has the same subjects, and the lists on their paths name the same accounts. Then the same
    /// callers have the same parts in both.
    func hasSameLists(as other: CubeAccess) -> Bool {
        lists == other.lists && entries.count == other.entries.count
            && entries.allSatisfy { topic, entry in other.entries[topic]?.list == entry.list }
    }

    /// Whether a part of this version of the cube has the same topics as a part of another version.
    func hasSameTopics(in part: CubePart, as other: CubeAccess, in otherPart: CubePart) -> Bool {
        (part.lists == nil) == (otherPart.lists == nil)
            && entries.keys.allSatisfy { contains($0, in: part) == other.contains($0, in: otherPart) }
            && other.entries.keys.allSatisfy { contains($0, in: part) == other.contains($0, in: otherPart) }
    }
}
