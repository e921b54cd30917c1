import Schemas

/// Who may send to which subject, by the access lists of one version of the cube (seed, "Schema", `access`). Pure.
///
/// A communicator may send to a subject if no list on its path names anyone, or if one of the lists names the account. A super user
/// may send to every subject. The scope of a token restricts both.
///
/// A class, because each request that asks for the cube copies what contains it.
final class CubeAccess: Sendable {
    struct Entry: Sendable {
        let subject: Subject
        let names: CubeNames
        /// The ids of the channel, the area and the subject itself. Equal to its topic key unless the subject was moved.
        let place: TopicKey
        /// The number of the subject's list in ``AccessLists``.
        fileprivate let list: Int
    }

    private let entries: [TopicKey: Entry]
    private let lists: AccessLists
    /// The topics of the subjects that were moved.
    private let moved: [TopicKey]
    /// Copies of this value share the cache.
    private let parts = CubePartTopics()

    init(_ channels: [Channel]) {
        var found: [TopicKey: (subject: Subject, names: CubeNames, place: TopicKey, named: Set<AccountName>?)] = [:]
        for channel in channels {
            for area in channel.areas {
                for subject in area.subjects {
                    let names = CubeNames(channel: channel.name, area: area.name, subject: subject.name)
                    let place = TopicKey(channel: channel.id, area: area.id, subject: subject.id)
                    let named = Self.named([channel.access, area.access, subject.access])
                    found[subject.topicKey] = (subject, names, place, named)
                }
            }
        }
        let lists = AccessLists(Set(found.values.map(\.named)))
        entries = found.mapValues {
            Entry(subject: $0.subject, names: $0.names, place: $0.place, list: lists.number(of: $0.named))
        }
        moved = found.filter { $0.key != $0.value.place }.map(\.key)
        self.lists = lists
    }

    /// The accounts that the lists on a path name; `nil` if they name no account, so that all may send. A text that is not a valid
    /// account name matches no account, but the subject is still restricted.
    private static func named(_ path: [[String]]) -> Set<AccountName>? {
        let texts = path.joined()
        return texts.isEmpty ? nil : Set(texts.compactMap { AccountName($0) })
    }

    /// The subject of a topic key; `nil` if there is none.
    subscript(topic: TopicKey) -> Entry? { entries[topic] }

    /// Whether an account may send to a topic. A communicator may send to no topic of a deleted subject.
    func maySend(_ principal: Principal, to topic: TopicKey) -> Bool {
        if let scope = principal.scope, !contains(topic, in: scope) { return false }
        if principal.role == .superUser { return true }
        guard let entry = entries[topic] else { return false }
        return lists.allows(principal.account, entry.list)
    }

    /// Whether the scope of a token contains a topic. Channels and areas are compared with the subject's present place, a single
    /// subject by its topic key.
    func contains(_ topic: TopicKey, in scope: [TopicPrefix]) -> Bool {
        let place = entries[topic]?.place ?? topic
        return scope.contains { $0.contains($0.subject == nil ? place : topic) }
    }

    /// The topics that an account may send to; `nil` for all, including those of deleted subjects.
    func topics(for principal: Principal) -> [TopicKey]? {
        part(of: principal).map(topics(of:))
    }

    // MARK: Parts

    /// The part of the cube that an account may send to; `nil` for all of it, including deleted subjects.
    func part(of principal: Principal) -> CubePart? {
        guard !principal.maySendEverywhere else { return nil }
        let isSuperUser = principal.role == .superUser
        return CubePart(lists: isSuperUser ? nil : lists.numbers(allowing: principal.account), scope: principal.scope)
    }

    /// Whether a part of this version of the cube has a topic.
    func contains(_ topic: TopicKey, in part: CubePart) -> Bool {
        if let scope = part.scope, !contains(topic, in: scope) { return false }
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

    /// The filter by present places. A moved subject keeps the topic key of the place where it was added, so if the filter's
    /// channel or area is affected by a move, the topics that are there now replace both. The topics of deleted subjects are then
    /// left out.
    func placed(_ filter: MessageFilter) -> MessageFilter {
        func isIn(_ place: TopicKey) -> Bool {
            (filter.channel ?? place.channel) == place.channel && (filter.area ?? place.area) == place.area
        }
        guard moved.contains(where: { isIn($0) != isIn(entries[$0]?.place ?? $0) }) else { return filter }
        var placed = filter
        (placed.channel, placed.area) = (nil, nil)
        placed.topics = entries.filter { isIn($0.value.place) }.map(\.key)
        return placed
    }

    /// Whether another version of the cube has the same subjects at the same places, and the lists on their paths name the same accounts.
    /// Then the same callers have the same parts in both.
    func hasSameLists(as other: CubeAccess) -> Bool {
        lists == other.lists && entries.count == other.entries.count
            && entries.allSatisfy { topic, entry in
                other.entries[topic]?.list == entry.list && other.entries[topic]?.place == entry.place
            }
    }

    /// Whether a part of this version of the cube has the same topics as a part of another version.
    func hasSameTopics(in part: CubePart, as other: CubeAccess, in otherPart: CubePart) -> Bool {
        (part.lists == nil) == (otherPart.lists == nil)
            && entries.keys.allSatisfy { contains($0, in: part) == other.contains($0, in: otherPart) }
            && other.entries.keys.allSatisfy { contains($0, in: part) == other.contains($0, in: otherPart) }
    }
}
