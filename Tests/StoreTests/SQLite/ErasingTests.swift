import Base
import FoundationEssentials
import GRDB
import Schemas
import TestSupport
import Testing

@testable import Store

@Suite("A store that erases", .timeLimit(.minutes(10)))
struct ErasingTests {
    private struct Note: StoredDocument, Hashable {
        let id: ObjectID
        var text: String

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case text
        }
    }

    private static let notes = Collection<Note>("note")
    private static let secret = "birthday on a leap day"

    /// The names of the store's files that contain a text.
    private func files(in folder: String, with text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("notes.sqlite") }.filter { name in
            try Data(contentsOf: URL(filePath: folder + "/" + name)).firstRange(of: Data(text.utf8)) != nil
        }
    }

    private func withStore(_ body: (Storage, _ folder: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try await Storage.open(
                StoreDeclaration("notes", Self.notes, erases: true), at: StoragePlace(database: nil, folder: folder),
                logger: quietLogger)
            try await body(store, folder)
            try await store.close()
        }
    }

    @Test("What is removed or changed is in none of its files")
    func traces() async throws {
        try await withStore { store, folder in
            var ids: [ObjectID] = []
            for number in 0..<200 {
                let text = number.isMultiple(of: 50) ? Self.secret : String(repeating: "other ", count: 100)
                ids.append(try await store.insert(Note(id: ObjectID(), text: text), into: Self.notes).document.id)
            }
            // Some are in the file, and some in the write-ahead log alone.
            try await store.removeTraces()
            let late = try await store.insert(Note(id: ObjectID(), text: Self.secret), into: Self.notes).document.id
            #expect(try files(in: folder, with: Self.secret).count == 2)
            try await store.update(ids[0], in: Self.notes) { $0.text = "nothing" }
            for id in [ids[50], ids[100], ids[150], late] { try await store.delete(id, from: Self.notes) }
            try await store.removeTraces()
            #expect(try files(in: folder, with: Self.secret).isEmpty)
            #expect(try await store.get(ids[0], from: Self.notes)?.text == "nothing")
        }
    }

    @Test("While another read needs the log, the traces stay, and writes go on")
    func reader() async throws {
        try await withStore { store, folder in
            let id = try await store.insert(Note(id: ObjectID(), text: Self.secret), into: Self.notes).document.id
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: folder + "/notes.sqlite", configuration: configuration)
            try await reader.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT count(*) FROM note") }
            try await store.delete(id, from: Self.notes)
            let failure = await #expect(throws: CommandFailure.self) { try await store.removeTraces() }
            #expect(failure?.status == .unavailable)
            try await store.insert(Note(id: ObjectID(), text: "another"), into: Self.notes)

            try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            try await store.removeTraces()
            #expect(try files(in: folder, with: Self.secret).isEmpty)
            try reader.close()
        }
    }
}
