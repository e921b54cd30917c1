import Store
import Schemas
import TestSupport
import Testing

@testable import Cube

/// The move of the cube to the other database.
@Suite("Migration of the cube", .timeLimit(.minutes(10)))
struct CubeMigrationTests {
    private func migrate(_ place: CubePlace, to target: MovePlaces.Target, at url: String) async throws {
        let places = MovePlaces(folder: place.folder, url: try MongoURL(url), target: target)
        let move = try await MovableCollections(required: ["cube": ["icube", CubeNumbers.collection]]).open(places)
        try await perform {
            try await move.checkTarget()
            try await move.copy { _ in }
            for comparison in try await move.compare() { _ = try comparison.report }
        } finally: {
            try await move.close()
        }
    }

    @Test("The cube moves there and back with its order, its moved subjects and its entries, and counts no foreign edit")
    func thereAndBack() async throws {
        let url = try #require(try await StoreKind.mongodb.newDatabaseURL())
        try await withCubePlace(.sqlite) { place in
            let store = try await place.open()
            let (topic, other) = (try await store.build(), try await store.build())
            let to = SubjectPlace(channel: other.channel, area: other.area)
            try await store.edit(
                MoveSubject(channelID: topic.channel, areaID: topic.area, subjectID: topic.subject, to: to))
            try await store.edit(SetOrder(ids: [other.channel, topic.channel]))
            let (snapshot, entries) = (try await store.snapshot(), try await store.audit.pendingAudit(limit: 100))
            try await store.close()
            for _ in 0..<2 { try await migrate(place, to: .mongodb, at: url) }
            try await withTemporaryFolder { folder in
                let mongodb = CubePlace(folder: place.folder, url: url)
                try await migrate(CubePlace(folder: folder, url: nil), to: .sqlite, at: url)
                for place in [mongodb, CubePlace(folder: folder, url: nil)] {
                    let moved = try await place.open()
                    #expect(try await moved.snapshot() == snapshot)
                    #expect(try await moved.audit.pendingAudit(limit: 100) == entries)
                    #expect(try await moved.storage.snapshot { try $0.isCubeAsMeasured() })
                    #expect(try await moved.find(FindSubject(topicKey: topic)).subject.id == topic.subject)
                    try await moved.edit(AddChannel(channel: .named("after")))
                    try await moved.close()
                }
            }
            // The target has another cube now.
            let refusal = await #expect(throws: MigrationFailure.self) { try await migrate(place, to: .mongodb, at: url) }
            #expect(refusal?.description.contains("Nothing was written") == true, "\(refusal as Any)")
        }
    }

    @Test("A cube is copied into a database where a cube service has run, and has changed nothing")
    func openedTarget() async throws {
        let url = try #require(try await StoreKind.mongodb.newDatabaseURL())
        try await withCubePlace(.sqlite) { place in
            let source = try await place.open()
            _ = try await source.build()
            let snapshot = try await source.snapshot()
            try await source.close()
            let target = try await CubePlace(folder: place.folder, url: url).open()
            #expect(try await target.countForeignEdit() == nil)
            try await target.close()
            try await migrate(place, to: .mongodb, at: url)
            let copy = try await CubePlace(folder: place.folder, url: url).open()
            #expect(try await copy.snapshot() == snapshot)
            try await copy.close()
        }
    }
}
