/// A condition over topics, such as `'dogs' in topics && !('cats' in topics || 'birds' in topics)`. FCM supports `!`, `&&`, `||`,
/// parentheses, and at most five topics. Without parentheses it reads from left to right.
package struct TopicCondition: Sendable {
    package static let maxTopics = 5
    private static let maxDepth = 20

    private struct Problem: Error {
        let text: String
    }

    private var rest: Substring
    private var topics = 0
    private let subscribed: Set<String>

    /// The error in a condition; `nil` if it is valid.
    package static func problem(with text: String) -> String? {
        do {
            _ = try value(of: text, for: [])
            return nil
        } catch {
            return error.text
        }
    }

    /// Whether a phone with these topics fulfils a condition. None fulfils an invalid one.
    package static func isFulfilled(_ text: String, by topics: Set<String>) -> Bool {
        (try? value(of: text, for: topics)) ?? false
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

    private static func value(of text: String, for topics: Set<String>) throws(Problem) -> Bool {
        var condition = TopicCondition(rest: text[...], subscribed: topics)
        let value = try condition.terms(depth: 0)
        condition.skipSpace()
        guard condition.rest.isEmpty else { throw condition.expected("&& or ||") }
        return value
    }

    private init(rest: Substring, subscribed: Set<String>) {
        self.rest = rest
        self.subscribed = subscribed
    }

    /// Reads terms joined by operators.
    private mutating func terms(depth: Int) throws(Problem) -> Bool {
        var value = try term(depth: depth)
        while true {
            if take("&&") {
                let next = try term(depth: depth)
                value = value && next
            } else if take("||") {
                let next = try term(depth: depth)
                value = value || next
            } else {
                return value
            }
        }
    }

    private mutating func term(depth: Int) throws(Problem) -> Bool {
        guard depth < Self.maxDepth else { throw Problem(text: "expected at most \(Self.maxDepth) levels") }
        if take("!") { return try !term(depth: depth + 1) }
        if take("(") {
            let value = try terms(depth: depth + 1)
            guard take(")") else { throw expected(")") }
            return value
        }
        guard take("'"), let end = rest.firstIndex(of: "'") else { throw expected("a topic in single quotes") }
        let name = rest[..<end]
        guard Self.isTopicName(name) else { throw Problem(text: "\"\(name.prefix(60))\" is no topic's name") }
        rest = rest[end...].dropFirst()
        guard take("in"), take("topics") else { throw expected("in topics") }
        topics += 1
        guard topics <= Self.maxTopics else { throw Problem(text: "expected at most \(Self.maxTopics) topics") }
        return subscribed.contains(String(name))
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

    private func expected(_ what: String) -> Problem {
        Problem(text: rest.isEmpty ? "expected \(what) at the end" : "expected \(what) before \"\(rest.prefix(20))\"")
    }
}
