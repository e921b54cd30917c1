/// Checks conditions over topics, such as `'dogs' in topics && !('cats' in topics || 'birds' in topics)`. FCM supports `!`, `&&`,
/// `||`, parentheses, and at most five topics.
struct TopicCondition {
    private static let maxTopics = 5
    private static let maxDepth = 20

    private var rest: Substring
    private var topics = 0

    /// The error in a condition; `nil` if it is valid.
    static func problem(with text: String) -> String? {
        var condition = TopicCondition(rest: text[...])
        if let problem = condition.terms(depth: 0) { return problem }
        condition.skipSpace()
        return condition.rest.isEmpty ? nil : condition.expected("&& or ||")
    }

    /// A topic's name (FCM: `[a-zA-Z0-9-_.~%]{1,900}`).
    static func isTopicName(_ name: some StringProtocol) -> Bool {
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

    private init(rest: Substring) {
        self.rest = rest
    }

    /// Reads terms joined by operators.
    private mutating func terms(depth: Int) -> String? {
        repeat {
            if let problem = term(depth: depth) { return problem }
        } while take("&&") || take("||")
        return nil
    }

    private mutating func term(depth: Int) -> String? {
        guard depth < Self.maxDepth else { return "expected at most \(Self.maxDepth) levels" }
        if take("!") { return term(depth: depth + 1) }
        if take("(") {
            if let problem = terms(depth: depth + 1) { return problem }
            return take(")") ? nil : expected(")")
        }
        guard take("'"), let end = rest.firstIndex(of: "'") else { return expected("a topic in single quotes") }
        let name = rest[..<end]
        guard Self.isTopicName(name) else { return "\"\(name.prefix(60))\" is no topic's name" }
        rest = rest[end...].dropFirst()
        guard take("in"), take("topics") else { return expected("in topics") }
        topics += 1
        return topics <= Self.maxTopics ? nil : "expected at most \(Self.maxTopics) topics"
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

    private func expected(_ what: String) -> String {
        rest.isEmpty ? "expected \(what) at the end" : "expected \(what) before \"\(rest.prefix(20))\""
    }
}
