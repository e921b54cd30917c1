/// A condition over topics, such as `'dogs' in topics && !('cats' in topics || 'birds' in topics)`. FCM supports `!`, `&&`, `||`,
/// parentheses, and at most five topics. Without parentheses it reads from left to right.
package struct TopicCondition: Hashable, Sendable {
    package static let maxTopics = 5
    fileprivate static let maxDepth = 20

    /// What is wrong with a condition, in words.
    package struct Malformed: Error {
        fileprivate let problem: String
    }

    fileprivate indirect enum Term: Hashable, Sendable {
        case topic(String)
        case not(Term)
        case both(Term, Term)
        case either(Term, Term)

        func holds(for subscribed: (String) -> Bool) -> Bool {
            switch self {
            case .topic(let name): subscribed(name)
            case .not(let term): !term.holds(for: subscribed)
            case .both(let left, let right): left.holds(for: subscribed) && right.holds(for: subscribed)
            case .either(let left, let right): left.holds(for: subscribed) || right.holds(for: subscribed)
            }
        }
    }

    /// The condition as it was written.
    package let text: String
    /// The topics that it names.
    package let topics: Set<String>
    private let term: Term

    package init(_ text: String) throws(Malformed) {
        self.text = text
        var parser = ConditionParser(rest: text[...])
        term = try parser.wholeCondition()
        topics = Set(parser.topics)
    }

    /// Whether it holds for a phone with these subscriptions.
    package func holds(for subscribed: (String) -> Bool) -> Bool { term.holds(for: subscribed) }

    /// The error in a condition; `nil` if it is valid.
    package static func problem(with text: String) -> String? {
        do throws(Malformed) {
            _ = try TopicCondition(text)
            return nil
        } catch {
            return error.problem
        }
    }

    /// Whether a phone with these topics fulfils a condition. None fulfils an invalid one.
    package static func isFulfilled(_ text: String, by topics: Set<String>) -> Bool {
        (try? TopicCondition(text))?.holds(for: topics.contains) ?? false
    }

    /// A topic's name (FCM: `[a-zA-Z0-9-_.~%]{1,900}`).
    package static func isTopicName(_ name: some StringProtocol) -> Bool {
        (1...900).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.~%".utf8.contains(byte)
                }
            }
    }
}

/// Reads a condition from left to right.
private struct ConditionParser {
    var rest: Substring
    var topics: [String] = []

    init(rest: Substring) {
        self.rest = rest
    }

    mutating func wholeCondition() throws(TopicCondition.Malformed) -> TopicCondition.Term {
        let term = try terms(depth: 0)
        skipSpace()
        guard rest.isEmpty else { throw expected("&& or ||") }
        return term
    }

    /// Terms joined by operators.
    private mutating func terms(depth: Int) throws(TopicCondition.Malformed) -> TopicCondition.Term {
        var left = try term(depth: depth)
        while true {
            if take("&&") {
                left = .both(left, try term(depth: depth))
            } else if take("||") {
                left = .either(left, try term(depth: depth))
            } else {
                return left
            }
        }
    }

    private mutating func term(depth: Int) throws(TopicCondition.Malformed) -> TopicCondition.Term {
        let maxDepth = TopicCondition.maxDepth
        guard depth < maxDepth else { throw .init(problem: "expected at most \(maxDepth) levels") }
        if take("!") { return .not(try term(depth: depth + 1)) }
        if take("(") {
            let inner = try terms(depth: depth + 1)
            guard take(")") else { throw expected(")") }
            return inner
        }
        guard take("'"), let end = rest.firstIndex(of: "'") else { throw expected("a topic in single quotes") }
        let name = rest[..<end]
        guard TopicCondition.isTopicName(name) else { throw .init(problem: "\"\(name.prefix(60))\" is no topic's name") }
        rest = rest[end...].dropFirst()
        guard take("in"), take("topics") else { throw expected("in topics") }
        topics.append(String(name))
        let maxTopics = TopicCondition.maxTopics
        guard topics.count <= maxTopics else { throw .init(problem: "expected at most \(maxTopics) topics") }
        return .topic(String(name))
    }

    private mutating func take(_ word: String) -> Bool {
        skipSpace()
        guard rest.hasPrefix(word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == " " }
    }

    private func expected(_ what: String) -> TopicCondition.Malformed {
        .init(problem: rest.isEmpty ? "expected \(what) at the end" : "expected \(what) before \"\(rest.prefix(20))\"")
    }
}

extension TextLimits {
    /// Enough for five topics of 900 characters with operators.
    package static let condition = TextLimits(max: 5_000)
}
