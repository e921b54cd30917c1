import Base
import Schemas
import Testing

/// What the canary's messages say of its pushes.
@Suite("Text of the canary")
struct CanaryTextTests {
    @Test(
        "The time of the last push, or why none arrives, is read as it was written",
        arguments: [
            nil, .arrived(after: 0), .arrived(after: 412), .missing(reason: "the gateway answers 404: no such subscription."),
        ] as [CanaryText.Push?])
    func roundTrip(push: CanaryText.Push?) {
        let text = CanaryText(sent: 1_763_712_000_000, push: push)
        #expect(CanaryText("\(text)") == text)
    }

    @Test("Other texts are none of the canary; a reason stays on one line, and within a message's limit")
    func others() {
        #expect(CanaryText("Closed today") == nil)
        #expect(CanaryText("Sent at 1763712000000. Something that a later version says.")?.push == nil)
        let reason = "a\n\u{1b}[2J" + String(repeating: "x", count: 9_000)
        let text = "\(CanaryText(sent: 0, push: .missing(reason: reason)))"
        #expect(text.hasPrefix("Sent at 0. No push arrives: a  [2Jxx") && text.count < 400)
    }
}
