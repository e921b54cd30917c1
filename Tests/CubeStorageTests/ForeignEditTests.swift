import CubeStorage
import Schemas
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
            let channel = try await store.add(AddChannel(channel: .named("C"))).value
            try await withForeignEdits(of: store) { edits in
                // SQLite reports changes since the previous call.
                if kind == .sqlite { try await eventually { edits.checks > 0 } }
                for number in 0..<5 {
                    _ = try await store.add(AddArea(channelID: channel.id, area: .named("\(number)")))
                }
                try await place.rename(channel.id, "renamed")
                try await eventually { edits.versions == [7] }
                let snapshot = try await store.snapshot()
                #expect(snapshot.version == 7 && snapshot.channels[0].name == "renamed" && snapshot.channels[0].areas.count == 5)
                // A change of the store, immediately followed by one of another program.
                _ = try await store.add(AddArea(channelID: channel.id, area: .named("6")))
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
            let channel = try await first.add(AddChannel(channel: .named("C"))).value
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
            let channel = try await store.add(AddChannel(channel: .named("C"))).value
            try await withForeignEdits(of: store) { edits in
                if kind == .sqlite { try await eventually { edits.checks > 0 } }
                try await place.rename(channel.id, String(repeating: "x", count: 2_500))
                try await eventually { edits.versions == [2] }
                let failure = await #expect(throws: CommandFailure.self) {
                    try await store.add(AddChannel(channel: .named("D")))
                }
                #expect(failure?.status == .storageFull)
            }
            try await store.close()
        }
    }
}
