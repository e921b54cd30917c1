import FoundationEssentials
import Glibc
import Schemas
import TestSupport
import Testing

@testable import Operator

/// The file with the operator's token.
@Suite("Operator's token")
struct OperatorTokenTests {
    @Test("A token is read, and without a file there is none")
    func token() async throws {
        try await withTemporaryFolder { folder in
            let file = OperatorToken(stateDirectory: folder)
            #expect(try file.read() == nil)
            try await file.replace()
            #expect(try file.read()?.text.hasPrefix("msi_") == true)
        }
    }

    @Test(
        "The problem of a file is named without its content",
        arguments: [("", "is empty"), (" \n", "is empty"), ("s3cret", "holds no token"), ("msi_s3cret\n", "holds no token")])
    func malformed(text: String, problem: String) async throws {
        try await withTemporaryFolder { folder in
            let file = OperatorToken(stateDirectory: folder)
            try Data(text.utf8).write(to: URL(filePath: file.path))
            let failure = #expect(throws: StartFailure.self) { try file.read() }
            #expect(failure?.description.hasPrefix("\(file.path) \(problem)") == true)
            #expect(failure?.description.contains("s3cret") == false)
        }
    }

    @Test("A folder in its place is not a missing file")
    func folder() async throws {
        try await withTemporaryFolder { folder in
            let file = OperatorToken(stateDirectory: folder)
            #expect(mkdir(file.path, 0o700) == 0)
            let failure = #expect(throws: StartFailure.self) { try file.read() }
            #expect(failure?.description.contains("cannot be read: Is a directory") == true)
        }
    }
}
