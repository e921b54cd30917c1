import Schemas
import Store
import TestSupport
import Testing

/// Moves of some of a database's stores.
@Suite("Moving some stores", .timeLimit(.minutes(5)))
struct MovedStoresTests {
    private static let notes = Collection<Owner>("note")
    private static let others = StoreDeclaration("others", notes)

    /// Copies stores from MongoDB while services may write, as `msi backup` does.
    private static func copy(_ stores: MovedStores, from url: String, to folder: String) async throws -> [String] {
        let move = try await MovableCollections(of: stores).open(
            MovePlaces(folder: folder, url: try MongoURL(url), target: .sqlite))
        var lines: [String] = []
        try await perform {
            try await move.copyWhileInUse { lines.append($0) }
        } finally: {
            try await move.close()
        }
        return lines
    }

    @Test("One store is copied before all others, and none of them twice")
    func order() async throws {
        try await MoveTests.withPlaces { _, mongodb, back in
            let url = try #require(mongodb.url)
            try await mongodb.withStore { try await $0.insert(Owner(id: "ann"), into: Devices.owners) }
            try await mongodb.withStore(Self.others) { try await $0.insert(Owner(id: "first"), into: Self.notes) }
            let first = try await Self.copy(.only("others"), from: url, to: back.folder)
            #expect(first == ["note: 1 copied"])
            let rest = try await Self.copy(.others(than: "others"), from: url, to: back.folder)
            #expect(rest.contains("owner: 1 copied") && !rest.contains { $0.hasPrefix("note") })
            let owner = try await back.withStore { store in try await store.get("ann", from: Devices.owners) }
            #expect(owner != nil)
            try await back.withStore(Self.others) { store in
                let note = try await store.get("first", from: Self.notes)
                #expect(note != nil)
            }
        }
    }

    @Test("A store that is not there is no obstacle")
    func absent() async throws {
        try await MoveTests.withPlaces { _, mongodb, back in
            let url = try #require(mongodb.url)
            try await mongodb.withStore { try await $0.insert(Owner(id: "ann"), into: Devices.owners) }
            #expect(try await Self.copy(.only("others"), from: url, to: back.folder) == [])
        }
    }
}
