import Testing

@testable import Gateway

@Suite("Entity tags")
struct VersionTagTests {
    @Test("A version is read back from its tag")
    func roundTrip() {
        for version in [0, 17, Int64.max] {
            #expect(VersionTag(version).text == "\"v\(version)\"")
            #expect(VersionTag<Int64>(text: VersionTag(version).text)?.version == version)
        }
    }

    @Test("Another text is not a tag", arguments: ["", "\"", "\"v", "\"v\"", "v17", "\"17\"", "\"vx\"", "W/\"v17\"", "\"v17\" "])
    func other(text: String) {
        #expect(VersionTag<Int64>(text: text)?.version == nil)
    }
}
