import HTTPTypes
import Testing

@testable import Gateway

@Suite("Values of header fields")
struct FieldValueTests {
    @Test("A field's value is that of the subscript: of one field, of several, of none, and of cookies")
    func values() {
        let fields: HTTPFields = {
            var fields: HTTPFields = [.accept: "a", .cookie: "one=1"]
            fields.append(HTTPField(name: .accept, value: "b"))
            fields.append(HTTPField(name: .cookie, value: "two=2"))
            fields.append(HTTPField(name: .eTag, value: "\"v1\""))
            return fields
        }()
        #expect(fields.value(of: .accept) == "a, b" && fields.value(of: .eTag) == "\"v1\"" && fields.value(of: .vary) == nil)
        for name in [HTTPField.Name.accept, .cookie, .eTag, .vary] { #expect(fields.value(of: name) == fields[name]) }
    }

    @Test(
        "The short way to gzip agrees with the table of qualities",
        arguments: [
            "", "gzip", "gzip, deflate, br", "deflate, gzip, br", "deflate, gzip", "br", "*", "identity", "GZIP", "x-gzip",
            "x gzip, br", "gzip;q=0", "gzip;q=0, *", "deflate, gzip;q=0.5", "gzipped, br", "br,gzip,zstd", "gzip ,br",
        ])
    func gzip(header: String) {
        #expect(AcceptedEncodings.acceptGzip(header) == AcceptedEncodings(header).accepts("gzip"))
    }

    @Test("A text has the bytes of another one at any place")
    func bytes() {
        for text in ["-gzip\"", "\"v1-gzip\"", "\"v1-gzip\", \"v2\"", "é-gzip\"é"] { #expect(text.hasBytes(of: "-gzip\"")) }
        for text in ["", "-gzip", "\"v1\"", "-gzi-p\""] { #expect(!text.hasBytes(of: "-gzip\"")) }
    }
}
