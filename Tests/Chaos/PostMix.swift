import Base
import TestSupport

/// The portals' posts: to every subject, with and without an Idempotency-Key, immediate and scheduled, with long and short `ttl`;
/// also drills, follow-ups, messages from a template, and messages that need an approval.
struct PostMix: Sendable {
    let seed: UInt64
    let subjects: RunSubjects
    /// A template with the blank `number`.
    let template: String
    /// The key of a message that was accepted recently.
    let latest: @Sendable () -> String?
    /// Whether the product has the same clock as the portals, and keeps it for a moment.
    let isClockSteady: @Sendable () -> Bool

    func post(client: Int, number: Int) -> Post {
        var random = SeededGenerator(seed: seed ^ UInt64(client) << 40 ^ UInt64(number))
        func happens(in percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        let isHeld = happens(in: 5)
        // Each of them makes hundreds of pushes.
        let isForCrowd = !isHeld && !subjects.crowds.isEmpty && happens(in: 2)
        let group = isHeld ? [subjects.held] : isForCrowd ? subjects.crowds : subjects.ordinary
        let subject = group[Int.random(in: group.indices, using: &random)]
        var body = subject.message(title: "\(client)/\(number)")
        if happens(in: 8) {
            for text in ["title", "desc", "message"] { body[text] = nil }
            body["template"] = .string(template)
            body["values"] = ["number": "\(client)/\(number)"]
        }
        if happens(in: 5) { body["drill"] = true }
        if happens(in: 8), let latest = latest() { body["follows"] = .string(latest) }
        // An approval may take as long as an outage.
        if !isHeld, happens(in: 40) {
            // In seconds: now or never, not longer than some faults, and longer than all faults.
            body["ttl"] = .integer([0, 10, 15, 300].randomElement(using: &random) ?? 0)
        }
        if happens(in: 15), isClockSteady() {
            body["send_at"] = .integer(.nowInMilliseconds + Int64.random(in: 1_000...10_000, using: &random))
        }
        if happens(in: 10), body["send_at"] == nil, isClockSteady() {
            body["delay"] = .integer(Int64.random(in: 1...5, using: &random))
        }
        guard happens(in: 60) else { return Post(body, for: subject) }
        return Post(body, for: subject, key: "chaos-\(client)-\(number)", isRepeated: happens(in: 20))
    }
}
