import Base
import Schemas
import Store
import MessageLog

/// A shelf of books: a resource of the top level, with another one below it. A shelf with books is not deleted.
struct Shelf: StoredResource {
    let id: ObjectID
    var name: String
    var books: Int64

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, books
    }

    static let kind = "shelf"
    static let collection = Collection<Shelf>("shelf")

    init(id: ObjectID, in parent: Void, draft: NamedDraft) {
        self.id = id
        name = draft.name
        books = 0
    }

    mutating func update(by draft: NamedDraft) { name = draft.name }

    func deleted(in transaction: Transaction) throws {
        guard books == 0 else { throw CommandFailure(.conflict, "the shelf has books", field: "books") }
    }
}

/// A book of a shelf. Books are listed by their title, which is unique on the shelf.
struct Book: StoredResource {
    let id: ObjectID
    let shelf: ObjectID
    var title: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case shelf, title
    }

    struct Draft: Codable, Checked {
        let title: String

        enum CodingKeys: String, CodingKey, CaseIterable {
            case title
        }

        func check() throws(SchemaViolation) { try TextLimits.title.check(title, CodingKeys.title) }
    }

    typealias Parent = Shelf

    static let kind = "book"
    static let collection = Collection<Book>("book", indexes: [.unique(shelfField, titleField)])
    private static let shelfField = Field("shelf", \Book.shelf)
    private static let titleField = Field("title", \Book.title)

    static func all(in shelf: ObjectID) -> Query<Book> { Query(where: shelfField == shelf, order: .ascending(titleField)) }

    init(id: ObjectID, in shelf: ObjectID, draft: Draft) {
        self.id = id
        self.shelf = shelf
        title = draft.title
    }

    mutating func update(by draft: Draft) { title = draft.title }

    func added(in transaction: Transaction) throws {
        try transaction.update(shelf, in: Shelf.collection) { $0.books += 1 }
    }

    func deleted(in transaction: Transaction) throws {
        try transaction.update(shelf, in: Shelf.collection) { $0.books -= 1 }
    }
}

/// A label of a shelf: a resource that has a parent and no rules.
struct Label: StoredResource {
    let id: ObjectID
    let shelf: ObjectID
    var name: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case shelf, name
    }

    typealias Parent = Shelf

    static let kind = "label"
    static let collection = Collection<Label>("label", indexes: [.on(shelfField)])
    private static let shelfField = Field("shelf", \Label.shelf)

    static func all(in shelf: ObjectID) -> Query<Label> { Query(where: shelfField == shelf) }

    init(id: ObjectID, in shelf: ObjectID, draft: NamedDraft) {
        self.id = id
        self.shelf = shelf
        name = draft.name
    }

    mutating func update(by draft: NamedDraft) { name = draft.name }
}
