import HTTPTypes
import Hummingbird
import Base
import NIOCore
import Schemas
import Testing

@testable import Gateway

@Suite("Entity tags")
struct EntityTagTests {
    @Test(
        "A header is read by the grammar of RFC 9110, and a mark of weakness does not count",
        arguments: [
            (#""v8""#, ["v8"]), (#"W/"v8""#, ["v8"]), (#" "a" ,, W/"b"   , "c" "#, ["a", "b", "c"]), (#""a,b","""#, ["a,b", ""]),
            (#""\""#, ["\\"]), (#""é""#, ["é"]), ("v8", nil), (#""v8"#, nil), (#"w/"v8""#, nil), (#""a" "b""#, nil),
            (#""a b""#, nil),
            (#"*, "a""#, nil), ("", nil), (" , ", nil),
        ] as [(String, [String]?)])
    func grammar(field: String, tags: [String]?) {
        #expect(EntityTags(field) == tags.map { EntityTags.list($0.map { EntityTag(text: $0) }) })
        #expect(EntityTags(" * ") == .any)
    }

    @Test("A version is read back from its tag, and no other text is one")
    func versions() {
        for version in [0, 17, Int64.max] {
            #expect(VersionTag<Int64>(EntityTag(text: "v\(version)"))?.version == version)
            #expect(VersionTag(version).text == "\"v\(version)\"")
        }
        for text in ["", "v", "17", "vx", "v+1", "v01", "v99999999999999999999"] {
            #expect(VersionTag<Int64>(EntityTag(text: text))?.version == nil, "\(text)")
        }
    }

    private func request(_ name: HTTPField.Name, _ field: String) -> Request {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/", headerFields: [name: field])
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test("A client knows an answer by its tag in a list, and when a proxy has compressed the answer")
    func known() {
        for field in [#""v8""#, #"W/"v8""#, #""v7", W/"v8-gzip""#, "*"] {
            #expect(request(.ifNoneMatch, field).knows(#""v8""#), "\(field)")
        }
        for field in [#""v80""#, "v8", #""v8-open""#] { #expect(!request(.ifNoneMatch, field).knows(#""v8""#), "\(field)") }
        #expect(!request(.ifNoneMatch, #""d-gzip""#).knows(#""d""#, isEncoded: true))
        #expect(request(.ifNoneMatch, #"W/"d-gzip""#).knows(#""d-gzip""#, isEncoded: true))
    }

    @Test("The declared form of If-Match fits the tags of the cube as they are given and weakened, and no other text")
    func declaredForm() throws {
        let pattern = try Regex(try #require(Gateway.RequestHeader.ifMatchCube.schema["pattern"]?.string))
        let tags = [nil, CubeDigest(value: .max)].flatMap { digest in
            [true, false].map { CubeTag(17, digest, showsAccess: $0) }
        }
        for tag in tags.map({ VersionTag($0).text }) {
            #expect(VersionTag<CubeTag>(EntityTag(text: String(tag.dropFirst().dropLast())))?.text == tag)
            for text in [tag, "W/" + tag, "\(tag.dropLast())-gzip\"", "*"] {
                #expect(text.wholeMatch(of: pattern) != nil, "\(text)")
            }
        }
        for text in [#""v17-closed""#, #""v17-open-1f""#, "v17", "**", ""] {
            #expect(text.wholeMatch(of: pattern) == nil, "\(text)")
        }
    }
}
