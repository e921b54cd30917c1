import Base
import FoundationEssentials
import HTTPTypes

/// The people, in the order in which they were added. They are kept in a file.
actor People {
    /// The whole file is written after each change.
    static let max = 1_000

    private let file: String
    private var people: [EmulatedPerson]

    /// Reads the file, or begins with the samples.
    ///
    /// - Throws: ``StateFileError``.
    init(file: String) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file) else {
            people = EmulatedPerson.samples
            return
        }
        guard let data = FileManager.default.contents(atPath: file), let members = (try? JSONValue(parsing: data))?.members,
            members.allSatisfy({ $0.value.members != nil })
        else { throw StateFileError(path: file, problem: "it is no JSON object of objects") }
        people = members.map { EmulatedPerson(sub: $0.name, claims: $0.value) }
    }

    var all: [EmulatedPerson] { people }

    /// The person with an identifier. One that is unknown has no claims.
    func person(_ sub: String) -> EmulatedPerson {
        people.first { $0.sub == sub } ?? EmulatedPerson(sub: sub, claims: [:])
    }

    /// Adds a person, or replaces the one with the same identifier.
    ///
    /// - Throws: ``Refusal`` if there are too many, `DurableFileFailure` if the file cannot be written; then nothing has changed.
    func put(_ person: EmulatedPerson) throws {
        var changed = people
        if let index = changed.firstIndex(where: { $0.sub == person.sub }) {
            changed[index] = person
        } else {
            guard changed.count < Self.max else { throw Refusal(.conflict, "there are \(Self.max) people already") }
            changed.append(person)
        }
        let document = JSONValue.object(changed.map { .init($0.sub, $0.claims) })
        try DurableFiles.replace(file, document.text)
        people = changed
    }
}
