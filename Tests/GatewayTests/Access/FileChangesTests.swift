import Testing

@testable import Gateway

@Suite("Changes of the certificate's files")
struct FileChangesTests {
    @Test("New content is loaded once it stays the same from one look to the next")
    func settled() {
        var changes = FileChanges("a")
        // The certificate is written before its key.
        let looks = ["a", "half", "b", "b", "b"].map { changes.saw($0) }
        #expect(looks == [false, false, false, true, false])
        // Bad content is tried once, and the former one is loaded again if it returns.
        #expect(["a", "a"].map { changes.saw($0) } == [false, true])
    }
}
