/// A condition over topics, such as `'dogs' in topics && !('cats' in topics || 'birds' in topics)`.
///
/// FCM supports `!`, `&&`, `||`, parentheses and at most five topics. It evaluates from left to right unless
/// parentheses say otherwise.
struct TopicCondition: Hashable, Sendable {
    /// FCM's answer does not name the problem of a condition.
    struct Malformed: Error {}

    private indirect enum Term: Hashable, Sendable {
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

    private static let maxTopics = 5
    private static let maxDepth = 20

    /// The condition as it was written.
    let text: String
    /// The topics that it names.
    let topics: Set<String>
    private let term: Term

    /// - Throws: ``Malformed``.
    init(_ text: String) throws {
        self.text = text
        var parser = Parser(rest: text[...])
        term = try parser.expression(depth: 0)
        parser.skipSpace()
        guard parser.rest.isEmpty else { throw Malformed() }
        topics = parser.topics
    }

    /// Whether it holds for a phone with these subscriptions.
    func holds(for subscribed: (String) -> Bool) -> Bool {
        term.holds(for: subscribed)
    }

    private struct Parser {
        var rest: Substring
        var topics: Set<String> = []
        var count = 0

        mutating func expression(depth: Int) throws -> Term {
            var left = try operand(depth: depth)
            while true {
                if take("&&") {
                    left = .both(left, try operand(depth: depth))
                } else if take("||") {
                    left = .either(left, try operand(depth: depth))
                } else {
                    return left
                }
            }
        }

        private mutating func operand(depth: Int) throws -> Term {
            guard depth < TopicCondition.maxDepth else { throw Malformed() }
            if take("!") { return .not(try operand(depth: depth + 1)) }
            if take("(") {
                let inner = try expression(depth: depth + 1)
                guard take(")") else { throw Malformed() }
                return inner
            }
            guard take("'"), let end = rest.firstIndex(of: "'") else { throw Malformed() }
            let name = String(rest[..<end])
            rest = rest[end...].dropFirst()
            guard TopicName.isValid(name) else { throw Malformed() }
            guard take("in"), take("topics") else { throw Malformed() }
            topics.insert(name)
            count += 1
            guard count <= TopicCondition.maxTopics else {
                throw Malformed()
            }
            return .topic(name)
        }

        private mutating func take(_ token: String) -> Bool {
            skipSpace()
            guard rest.hasPrefix(token) else { return false }
            rest = rest.dropFirst(token.count)
            return true
        }

        mutating func skipSpace() {
            rest = rest.drop { $0 == " " }
        }
    }
}
