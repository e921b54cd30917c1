import Testing

@testable import FCMRelay

@Suite("FCM's names in a history")
struct SentNameTests {
    @Test(
        "Each name is returned as FCM has written it",
        arguments: [
            "projects/campus/messages/0:1500415314455276%31bd1c9631bd1c96", "projects/campus/messages/0:1%0000000000000000",
            "projects/campus/messages/6547981243", "projects/campus/messages/0", "projects/campus/messages/9999999999999999999",
            // Other forms.
            "projects/campus/messages/00", "projects/campus/messages/10000000000000000000", "projects/campus/messages/",
            "projects/campus/messages/0:01%31bd1c9631bd1c96", "projects/campus/messages/0:1%31BD1C9631BD1C96",
            "projects/campus/messages/0:1%31bd1c96", "projects/campus/messages/1500415314455276-é", "projects/other/messages/1",
            "1", "", "0:1500415314455276%31bd1c9631bd1c96",
        ])
    func names(_ name: String) {
        var names = SentNames()
        let first = names.compact("projects/campus/messages/1")
        let small = names.compact(name)
        #expect(names.text(of: small) == name)
        #expect(names.text(of: first) == "projects/campus/messages/1")
        var others = SentNames()
        let other = others.compact(name)
        #expect(others.text(of: other) == name)
    }

    @Test("FCM's own forms take no memory of their own")
    func size() {
        var names = SentNames()
        for id in ["0:1500415314455276%31bd1c9631bd1c96", "6547981243"] {
            if case .other = names.compact("projects/campus/messages/\(id)") { Issue.record("\(id) is kept as text") }
        }
        #expect(MemoryLayout<SentName>.size <= 17)
    }
}
