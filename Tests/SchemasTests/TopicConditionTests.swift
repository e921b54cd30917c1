import Schemas
import Testing

@Suite("Topic conditions")
struct TopicConditionTests {
    @Test(
        "A condition is true or false for a set of topics as FCM documents it",
        arguments: [
            ("'a' in topics", ["a"], true), ("'a' in topics", [], false), ("!'a' in topics", [], true),
            ("'a' in topics && 'b' in topics", ["a"], false), ("'a' in topics||'b' in topics", ["b"], true),
            ("'a' in topics && ('b' in topics || 'c' in topics)", ["a", "c"], true),
            // From left to right, without precedence.
            ("'a' in topics || 'b' in topics && 'c' in topics", ["a"], false),
            ("'a' in topics || ('b' in topics && 'c' in topics)", ["a"], true),
            ("!('a' in topics || 'b' in topics)", ["c"], true),
            ("'a' in topics && 'b' in topics || 'c' in topics", ["a", "c"], true),
        ])
    func itHoldsOrNot(_ text: String, topics: [String], holds: Bool) throws {
        #expect(try TopicCondition(text).holds(for: topics.contains) == holds)
        #expect(TopicCondition.problem(with: text) == nil)
    }

    @Test("A condition has the topics that it names")
    func topics() throws {
        #expect(try TopicCondition("'a' in topics && !('b' in topics || 'a' in topics)").topics == ["a", "b"])
    }

    @Test(
        "A malformed condition is refused",
        arguments: [
            "", "'a'", "a in topics", "'a' in topics &", "'a' in topics 'b' in topics", "('a' in topics", "'a b' in topics",
            "'a' in topics)", "&& 'a' in topics", (1...6).map { "'t\($0)' in topics" }.joined(separator: " || "),
        ])
    func aMalformedOneIsRefused(_ text: String) {
        #expect(throws: TopicCondition.Malformed.self) { try TopicCondition(text) }
        #expect(TopicCondition.problem(with: text) != nil && !TopicCondition.isFulfilled(text, by: ["a"]))
    }
}
