import FoundationEssentials
import Base
import Testing

/// A case of `Tests/AppCases`: the story of one phone.
struct AppCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let document: JSONValue

    private static let folder = URL(filePath: #filePath).appending(path: "../../../AppCases").standardized

    /// The cases of a file.
    ///
    /// - Returns: If the file cannot be read, one case that fails with the reason.
    static func all(in file: String) -> [AppCase] {
        do {
            let document = try JSONValue(parsing: Data(contentsOf: folder.appending(path: file)))
            guard let cases = document.elements else { throw CaseMistake("\(file): expected an array") }
            return cases.enumerated().map { number, document in
                AppCase(testDescription: document["name"]?.string ?? "\(file)[\(number)]", document: document)
            }
        } catch {
            return [AppCase(testDescription: file, document: .string("\(error)"))]
        }
    }

    /// The names of the files.
    static func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()
    }

    /// Whether the case is about something that the library does not have.
    var isOfWebApp: Bool { document["web"]?.string != nil }

    /// Plays a case. One of the web app is skipped.
    ///
    /// - Throws: ``CaseMistake``, ``CaseFailure``, or another error of the test.
    func play() async throws {
        guard !isOfWebApp else { return }
        var story = try CaseMembers(document, "the case")
        _ = try story.text("name")
        let isOfLibrary = try story.optionalText("library") != nil
        let phone = try CasePhone(given: try story.members("given"))
        let steps = try story.elements("steps")
        try story.end()
        do {
            for (number, step) in steps.enumerated() {
                try await phone.play(try CaseMembers(step, "steps[\(number)]"), isOfLibrary: isOfLibrary)
            }
        } catch {
            await phone.end()
            throw error
        }
        await phone.end()
    }
}

/// A case that is not written in the words of `Tests/AppCases/README.md`.
struct CaseMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The app did something else than the case says.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
