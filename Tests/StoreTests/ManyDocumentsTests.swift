import Store
import Schemas
import TestSupport
import Testing

/// Operations on several documents at once, and on identifiers of unreadable documents.
@Suite("Many documents", .timeLimit(.minutes(10)))
struct ManyDocumentsTests {
    private struct Line: StoredDocument, Equatable {
        let id: Int64
        var text: String
        var key: ObjectID

        init(_ id: Int64, _ text: String = "") {
            (self.id, self.text, key) = (id, text, ObjectID())
        }

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case text, key
        }
    }

    private static let key = Field("key", \Line.key)
    private static let lines = Collection<Line>("line", indexes: [.unique(key)])
    private static let store = StoreDeclaration("lines", lines)

    private func withLines(_ kind: StoreKind, _ body: (Storage) async throws -> Void) async throws {
        let url = try await kind.newDatabaseURL()
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: try url.map { try MongoURL($0) }, folder: folder)
            let store = try await Storage.open(Self.store, at: place, logger: quietLogger)
            try await body(store)
            try await store.close()
        }
    }

    @Test("Documents are inserted together, all or none", arguments: StoreKind.allCases)
    func insertAll(_ kind: StoreKind) async throws {
        try await withLines(kind) { store in
            let lines = (1...250).map { Line(Int64($0)) }
            try await store.transaction { try $0.insert(all: lines, into: Self.lines) }
            #expect(try await store.page(of: Self.lines, limit: 300).documents.map(\.document) == lines)
            #expect(try await store.get(7, from: Self.lines)?.revision == 1)

            var twin = Line(400)
            twin.key = lines[0].key
            let more = [Line(300), twin]
            await #expect(throws: CommandFailure.self) {
                try await store.transaction { try $0.insert(all: more, into: Self.lines) }
            }
            try await store.transaction { try $0.insert(all: [Line](), into: Self.lines) }
            #expect(try await store.page(of: Self.lines, limit: 300).documents.count == 250)
        }
    }

    @Test("The greatest number below a maximum, and which of some values are stored", arguments: StoreKind.allCases)
    func identifiers(_ kind: StoreKind) async throws {
        try await withLines(kind) { store in
            let lines = [Line(1), Line(2), Line(900)]
            #expect(try await store.snapshot { try $0.greatestID(of: Self.lines, upTo: 500) } == nil)
            try await store.transaction { try $0.insert(all: lines, into: Self.lines) }
            #expect(try await store.snapshot { try $0.greatestID(of: Self.lines, upTo: 500) } == 2)
            #expect(try await store.snapshot { try $0.greatestID(of: Self.lines, upTo: .max) } == 900)
            let keys = [lines[2].key, ObjectID(), lines[0].key]
            let stored = try await store.snapshot { try $0.stored(keys, in: Self.key, of: Self.lines) }
            #expect(stored == [lines[0].key, lines[2].key])
        }
    }

    @Test("A document takes the place of another one with its id, or of none", arguments: StoreKind.allCases)
    func overwrite(_ kind: StoreKind) async throws {
        try await withLines(kind) { store in
            for text in ["first", "second"] {
                let line = Line(1, text)
                try await store.transaction { try $0.overwrite(with: line, in: Self.lines) }
                #expect(try await store.page(of: Self.lines, limit: 2).documents.map(\.document) == [line])
            }
        }
    }
}
