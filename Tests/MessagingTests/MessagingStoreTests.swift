import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The collections of the messaging service, on both databases.
@Suite("The store of the messaging service", .timeLimit(.minutes(10)))
struct MessagingStoreTests {
    private static func message(_ number: Int64, from: AccountName, to: AccountName) -> DirectMessageDocument {
        DirectMessageDocument(
            id: ObjectID(), conversation: ConversationDocument.id(of: from.key, and: to.key), number: number, count: 1,
            to: to.key, toName: to, from: from.key, fromName: from, toPosition: number, fromPosition: number,
            text: "Are you coming?", picture: nil, at: 1_000, classmate: nil)
    }

    private static func with(
        _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation, _ body: (Storage) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
            let store = try await Storage.open(
                MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
            try await perform {
                try await body(store)
            } finally: {
                try await store.close()
            }
        }
    }

    @Test("What is new for a person is found by position, and a conversation by number", arguments: StoreKind.allCases)
    func messages(kind: StoreKind) async throws {
        try await Self.with(kind) { store in
            let (first, second) = (Self.message(1, from: "Ann", to: "Bob"), Self.message(2, from: "Bob", to: "Ann"))
            for message in [first, second] { try await store.insert(message, into: MessagingStore.messages) }
            let inbox = Query(
                where: MessagingStore.messageTo == "bob", MessagingStore.messageToPosition > 0,
                order: .ascending(MessagingStore.messageToPosition))
            let all = Query(
                where: MessagingStore.messageConversation == "ann bob", MessagingStore.messageNumber < 3,
                order: .descending(MessagingStore.messageNumber))
            #expect(try await store.page(of: MessagingStore.messages, inbox, limit: 9).documents.map(\.document) == [first])
            let found = try await store.page(of: MessagingStore.messages, all, limit: 9).documents.map(\.document)
            #expect(found == [second, first])
        }
    }

    @Test("A conversation is found by each of its persons", arguments: StoreKind.allCases)
    func conversations(kind: StoreKind) async throws {
        try await Self.with(kind) { store in
            var conversation = ConversationDocument("Bob", "Ann")
            conversation.second.changed = 7
            try await store.insert(conversation, into: MessagingStore.conversations)
            let ofBob = Query(
                where: MessagingStore.secondAccount == "bob", MessagingStore.secondChanged > 6,
                order: .ascending(MessagingStore.secondChanged))
            let found = try await store.page(of: MessagingStore.conversations, ofBob, limit: 9).documents.map(\.document)
            #expect(found == [conversation])
            #expect(found.first?.first.name == "Ann")
        }
    }

    @Test("The bytes of a picture come back, part by part", arguments: StoreKind.allCases)
    func pictures(kind: StoreKind) async throws {
        try await Self.with(kind) { store in
            let parts = [Data([0, 1, 255]), Data([7])]
            for (n, data) in parts.enumerated() {
                let chunk = PictureChunkDocument(id: ObjectID(), file: "9f86", n: Int32(n), data: data)
                try await store.insert(chunk, into: MessagingStore.chunks)
            }
            let query = Query(where: MessagingStore.chunkFile == "9f86", order: .ascending(MessagingStore.chunkNumber))
            let found = try await store.page(of: MessagingStore.chunks, query, limit: 9).documents.map(\.document.data)
            #expect(found == parts)
        }
    }
}

extension AccountName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = AccountName(text) else { preconditionFailure("\(text) is no account's name") }
        self = name
    }
}
