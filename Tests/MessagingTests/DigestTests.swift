import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The keyed digests of messages.
@Suite("Digests of messages", .timeLimit(.minutes(10)))
struct DigestTests {
    private static func message(
        _ id: ObjectID, text: String? = "hello", picture: String? = nil, from: AccountName = "Ann", to: AccountName = "bob",
        number: Int64 = 7, at: UnixMilliseconds = 1_000
    ) -> DirectMessageDocument {
        let stored = picture.map {
            StoredPicture(use: ObjectID(), picture: $0, type: .png, width: 2, height: 2, bytes: 70)
        }
        return DirectMessageDocument(
            id: id, conversation: ConversationDocument.id(of: from.key, and: to.key), number: number, count: 1, to: to.key,
            toName: to, from: from.key, fromName: from, toPosition: 1, fromPosition: 1, text: text, picture: stored, at: at,
            classmate: nil)
    }

    @Test(
        "The digest of a message is the same after a restart, and that of any other message is another one",
        arguments: StoreKind.ofRules)
    func digests(kind: StoreKind) async throws {
        let id = ObjectID()
        try await RemovalHarness.with(kind) { harness in
            let digest = try await harness.digests.digest()
            let known = digest.text(of: Self.message(id))
            #expect(known.utf8.count == 64)
            #expect(try await MessageDigests(store: harness.store).digest().text(of: Self.message(id)) == known)
            // What is no part of it, such as the picture's use and the spelling of names.
            #expect(digest.text(of: Self.message(id, from: "ANN")) == known)
            let messages: [DirectMessageDocument] = [
                Self.message(ObjectID()), Self.message(id, text: "hello "), Self.message(id, from: "bob", to: "ann"),
                Self.message(id, to: "cleo"), Self.message(id, number: 8), Self.message(id, at: 1_001),
                Self.message(id, text: nil, picture: "hello"), Self.message(id, text: nil, picture: "9f86"),
            ]
            let others = messages.map { digest.text(of: $0) }
            #expect(Set(others + [known]).count == others.count + 1)
            let pictures = (0..<2).map { _ in digest.text(of: Self.message(id, text: nil, picture: "9f86")) }
            #expect(pictures[0] == pictures[1])
            #expect(digest.place("ann bob", to: "bob") != digest.place("ann bob", to: "ann"))
            #expect(digest.place("ann bob", to: "bob").utf8.count == 32)
        }
    }

    @Test(
        "Two instances that begin in the same moment have the same key, and another store has another one",
        arguments: StoreKind.allCases)
    func key(kind: StoreKind) async throws {
        let message = Self.message(ObjectID())
        let first = try await RemovalHarness.with(kind) { harness in
            let texts = try await whenAvailable {
                async let one = MessageDigests(store: harness.store).digest()
                async let other = MessageDigests(store: harness.store).digest()
                return try await [one, other].map { $0.text(of: message) }
            }
            #expect(texts[0] == texts[1])
            return texts[0]
        }
        let second = try await RemovalHarness.with(kind) { try await $0.digests.digest().text(of: message) }
        #expect(first != second)
    }
}
