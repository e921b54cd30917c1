import Store
import Schemas
import Testing

/// What stays of a stored document when its type changes it.
@Suite("Merged documents")
struct MergeTests {
    private let ids = (0..<6).map { _ in ObjectID() }

    private func part(_ index: Int, _ name: String, _ others: [(String, BSONValue)] = []) -> BSONValue {
        .document(BSONDocument([("id", ids[index].bson), ("name", name.bson)] + others))
    }

    private func document(_ parts: [BSONValue]) -> BSONDocument { ["_id": "d", "parts": .array(parts)] }

    @Test("Elements that the type cannot read stay, each behind the same elements, however the others change")
    func leftOut() throws {
        let damaged: [BSONValue] = [part(4, "damaged"), 7, part(0, "the id of another one")]
        let stored = document([
            damaged[0], part(0, "a", [("note", "mine")]), damaged[1], part(1, "b"), part(2, "c"), damaged[2],
        ])
        let read = document([part(0, "a"), part(1, "b"), part(2, "c")])
        let new = document([part(0, "changed"), part(2, "c"), part(3, "new")])
        #expect(
            try stored.merged(from: read, to: new)
                == document([
                    damaged[0], part(0, "changed", [("note", "mine")]), damaged[1], part(2, "c"), damaged[2], part(3, "new"),
                ]))
    }

    @Test("Elements that change their places keep their other fields")
    func sorted() throws {
        let stored = document([part(0, "a", [("note", 1)]), part(1, "b", [("note", 2)])])
        let (read, new) = (document([part(0, "a"), part(1, "b")]), document([part(1, "b"), part(0, "a")]))
        #expect(
            try stored.merged(from: read, to: new) == document([part(1, "b", [("note", 2)]), part(0, "a", [("note", 1)])]))
    }

    @Test("A text becomes the new one even if Unicode counts both as the same, at any depth")
    func equalTexts() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let (stored, new) = (document([part(0, composed)]), document([part(0, decomposed)]))
        #expect(try stored.merged(from: stored, to: new) == new)
        let (list, newList): (BSONDocument, BSONDocument) = (["texts": [.string(composed)]], ["texts": [.string(decomposed)]])
        #expect(try list.merged(from: list, to: newList) == newList)
        // What the type does not change stays as it is stored.
        #expect(try stored.merged(from: new, to: new) == stored)
    }

    @Test("An absent field that the type reads as a default stays absent until it changes")
    func defaults() throws {
        let stored: BSONDocument = ["_id": "d", "name": "n"]
        let read: BSONDocument = ["_id": "d", "name": "n", "desc": ""]
        #expect(try stored.merged(from: read, to: ["_id": "d", "name": "m", "desc": ""]) == ["_id": "d", "name": "m"])
        #expect(
            try stored.merged(from: read, to: ["_id": "d", "name": "n", "desc": "x"])
                == ["_id": "d", "name": "n", "desc": "x"])
    }
}
