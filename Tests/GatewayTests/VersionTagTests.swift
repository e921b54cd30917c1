import JSON
import Schemas
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

    @Test("The declared form of If-Match fits both tags of the cube, and no other text")
    func declaredForm() throws {
        let forms = try #require(Gateway.RequestHeader.ifMatchCube.schema["anyOf"]?.elements)
        let patterns = forms.compactMap { $0["pattern"]?.string }
        let pattern = try Regex(try #require(patterns.first))
        for showsAccess in [true, false] {
            let tag = VersionTag(CubeTag(17, showsAccess: showsAccess)).text
            #expect(VersionTag<CubeTag>(text: tag)?.version.version == 17)
            #expect(tag.wholeMatch(of: pattern) != nil, "\(tag)")
        }
        #expect("\"v17-closed\"".wholeMatch(of: pattern) == nil)
    }

    @Test("Another text is not a tag", arguments: ["", "\"", "\"v", "\"v\"", "v17", "\"17\"", "\"vx\"", "W/\"v17\"", "\"v17\" "])
    func other(text: String) {
        #expect(VersionTag<Int64>(text: text)?.version == nil)
    }
}
