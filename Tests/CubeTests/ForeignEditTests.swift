@testable import Cube
import Schemas
import Store
import Synchronization
import TestSupport
import Testing

/// Changes by other programs while the store is open.
@Suite("Foreign edits of the cube", .timeLimit(.minutes(10)))
struct ForeignEditTests {
    @Test(
        "Another program's edit counts as one version; the store's own changes are not counted again",
        arguments: StoreKind.allCases)
    func counted(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value
            try await withForeignEdits(of: store) { edits in
                for number in 0..<5 {
                    _ = try await store.edit(AddArea(channelID: channel.id, area: .named("\(number)")))
                }
                try await place.rename(channel.id, "renamed")
                try await eventually { edits.versions == [7] }
                let snapshot = try await store.snapshot()
                #expect(snapshot.version == 7 && snapshot.channels[0].name == "renamed" && snapshot.channels[0].areas.count == 5)
                // A change of the store, immediately followed by one of another program.
                _ = try await store.edit(AddArea(channelID: channel.id, area: .named("6")))
                try await place.rename(channel.id, "again")
                try await eventually { edits.versions == [7, 9] }
                #expect(try await store.version() == 9)
            }
            try await store.close()
        }
    }

    @Test("In MongoDB another program's edit counts once among several processes, and also if no process was running")
    func severalProcesses() async throws {
        try await withCubePlace(.mongodb) { place in
            let first = try await place.open()
            let channel = try await first.edit(AddChannel(channel: .named("C"))).value
            try await first.close()
            try await place.rename(channel.id, "renamed")

            let stores = [try await place.open(), try await place.open()]
            try await withForeignEdits(of: stores[0]) { one in
                try await withForeignEdits(of: stores[1]) { other in
                    try await eventually { one.versions + other.versions == [2] }
                    for number in (3...6).map(CubeVersion.init(rawValue:)) {
                        try await place.rename(channel.id, "\(number)")
                        try await eventually { try await stores[0].version() == number }
                    }
                    try await eventually { (one.versions + other.versions).sorted() == [2, 3, 4, 5, 6] }
                }
            }
            for store in stores { try await store.close() }
        }
    }

    @Test("The size is measured again after another program's edit", arguments: StoreKind.allCases)
    func size(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open(sizeLimit: 2_000)
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value
            try await withForeignEdits(of: store) { edits in
                try await place.rename(channel.id, String(repeating: "x", count: 2_500))
                try await eventually { edits.versions == [2] }
                let failure = await #expect(throws: CommandFailure.self) {
                    try await store.edit(AddChannel(channel: .named("D")))
                }
                #expect(failure?.status == .storageFull)
            }
            try await store.close()
        }
    }

    @Test(
        "A change of a field that the product does not know, or of a part that it cannot read, counts",
        arguments: StoreKind.allCases)
    func unknown(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let channel = try await store.build().channel
            #expect(try await store.countForeignEdit() == nil)
            let changes = [("note", "mine"), ("areas.0.subjects", "many"), ("areas.0.desc", "of an area that cannot be read")]
            for (number, (path, text)) in changes.enumerated() {
                try await place.set(path, to: text, of: channel)
                #expect(try await store.countForeignEdit()?.version == CubeVersion(rawValue: Int64(number) + 4), "\(path)")
                #expect(try await store.countForeignEdit() == nil, "\(path)")
            }
            #expect(try await store.edit(UpdateChannel(channelID: channel, channel: .named("C2"))).version == 7)
            #expect(try await store.countForeignEdit() == nil)
            try await store.close()
        }
    }

    @Test(
        "A measure by another version of the program, which knows other fields, is corrected and counts as no change",
        arguments: StoreKind.allCases)
    func otherVersion(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            let channel = try await store.build().channel
            try await place.change("UPDATE cube SET document = json_set(document, '$.digest', 5, '$.size', 7)", []) {
                _ = try $0.update([:], ["$set": ["digest": .int64(5), "size": .int64(7)]], in: "cube")
            }
            #expect(try await store.countForeignEdit() == nil)
            let rename = UpdateChannel(channelID: channel, channel: .named("C2"))
            let event = try await store.edit(rename, by: .ann).event
            #expect(event.version == 4)
            #expect(try await event.digest == CubeDigest(of: store.snapshot().channels))
            try await store.close()
        }
    }

    @Test("An empty cube has no state; a channel that another program adds to it makes version 1", arguments: StoreKind.allCases)
    func emptyCube(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open()
            #expect(try await store.countForeignEdit() == nil)
            let state = try await store.storage.snapshot { try $0.get(CubeState.id, from: CubeCollections.state) }
            #expect(state == nil)
            try await place.insert(ObjectID(), "theirs")
            #expect(try await store.countForeignEdit()?.version == 1)
            #expect(try await store.snapshot().channels.map(\.name) == ["theirs"])
            try await store.close()
        }
    }

    @Test("On SQLite the cube is compared at the start and after another program's commits, and not after those of the store")
    func ownCommits() async throws {
        try await withCubePlace(.sqlite) { place in
            let store = try await place.open()
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value
            let calls = Counter()
            let watch = Task { try await store.storage.watch(CubeCollections.channels) { calls.add() } }
            try await eventually { calls.count == 1 }
            for number in 0..<5 { try await store.edit(AddArea(channelID: channel.id, area: .named("\(number)"))) }
            // The content's revision is looked at every second, and again after two.
            try await Task.sleep(for: .seconds(4))
            #expect(calls.count == 1)
            try await place.rename(channel.id, "renamed")
            try await eventually { calls.count == 2 }
            watch.cancel()
            _ = await watch.result
            try await store.close()
        }
    }

    @Test("While a change cannot be counted, comparisons take a small part of the time too")
    func pauseAfterFailure() async throws {
        try await withCubePlace(.sqlite) { place in
            let store = try await place.open()
            let channels = (0..<300).map { Channel(id: ObjectID(), name: "\($0)", desc: String(repeating: "x", count: 2_000)) }
            try await store.fill(CubeSnapshot(version: 1, channels: channels))
            try await place.change(
                "CREATE TRIGGER refuse BEFORE UPDATE ON cube BEGIN SELECT RAISE(ABORT, 'refused'); END", []
            ) { _ in }
            try await place.rename(channels[0].id, "renamed")
            let clock = ContinuousClock()
            var comparison = Duration.seconds(60)
            for _ in 0..<5 {
                let time = try await clock.measure { _ = try await store.storage.snapshot { try $0.isCubeAsMeasured() } }
                comparison = min(comparison, time)
            }
            let round = await clock.measure {
                await #expect(throws: (any Error).self) { try await store.followForeignEdits { _ in } }
            }
            #expect(round > comparison * 5)
            try await store.close()
        }
    }
}

/// The detected foreign edits.
final class ForeignEdits: Sendable {
    private let found = Mutex<[CubeVersion]>([])

    var versions: [CubeVersion] { found.withLock(\.self) }

    func add(_ version: CubeVersion) { found.withLock { $0.append(version) } }
}

/// Runs a test while the store watches for foreign edits, as in the service.
func withForeignEdits(of store: CubeStore, _ body: (ForeignEdits) async throws -> Void) async throws {
    let edits = ForeignEdits()
    let watch = Task {
        while !Task.isCancelled { try await store.followForeignEdits { edits.add($0.version) } }
    }
    try await perform {
        try await body(edits)
    } finally: {
        watch.cancel()
        _ = await watch.result
    }
}
