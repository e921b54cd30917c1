import Store
import Schemas
import TestSupport
import Testing

@testable import Cube

/// Cases of MongoDB only: several processes, the data dictionary, and unsuitable servers.
@Suite("Cube in MongoDB", .timeLimit(.minutes(10)))
struct MongoCubeStoreTests {
    @Test("No concurrent change of several processes is lost, each has its own version, and a snapshot shows one moment")
    func severalProcesses() async throws {
        try await withCubePlace(.mongodb) { place in
            let stores = [try await place.open(), try await place.open()]
            let channel = try await stores[0].edit(AddChannel(channel: .named("C"))).value
            let versions = try await withThrowingTaskGroup(of: [CubeVersion].self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let store = stores[number % 2]
                        let draft = NamedDraft.named("\(number)")
                        let version = try await store.edit(AddArea(channelID: channel.id, area: draft)).version
                        // Every change except the first, which made the channel, has added an area.
                        let snapshot = try await stores[1 - number % 2].snapshot()
                        #expect(snapshot.channels[0].areas.count == Int(snapshot.version.rawValue) - 1)
                        #expect(snapshot.version >= version)
                        return [version]
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(versions.sorted() == (2...61).map(CubeVersion.init(rawValue:)))
            for store in stores { try await store.close() }
        }
    }

    @Test("The documents in icube have the fields and types of the data dictionary")
    func dataDictionary() async throws {
        try await withCubePlace(.mongodb) { place in
            let store = try await place.open()
            try await fill(store)
            try await store.close()
            let url = try #require(place.url)
            let output = try await PythonScript.run("check_collections.py", [url, "icube", "2"])
            #expect(output.contains("icube: 2 documents are as the data dictionary says"))
        }
    }

    /// Creates and changes objects of every kind.
    private func fill(_ store: CubeStore) async throws {
        let channel = try await store.edit(AddChannel(channel: NamedDraft(name: "C", desc: "🎓"))).value.id
        let area = try await store.edit(AddArea(channelID: channel, area: .named("A"))).value.id
        for level in SubscriptionLevel.allCases {
            for distribution in Distribution.allCases {
                let draft = SubjectDraft(name: "S", desc: "d", opt: SubjectOptions(level: level, distribution: distribution))
                let subject = try await store.edit(AddSubject(channelID: channel, areaID: area, subject: draft)).value.id
                _ = try await store.edit(UpdateSubject(channelID: channel, areaID: area, subjectID: subject, subject: draft))
                _ = try await store.edit(
                    SetApproval(channelID: channel, areaID: area, subjectID: subject, approval: level == .forced))
            }
        }
        let names = [try #require(AccountName("ann"))]
        _ = try await store.edit(SetAccess(channelID: channel, areaID: area, access: names))
        _ = try await store.edit(UpdateArea(channelID: channel, areaID: area, area: NamedDraft(name: "A2", desc: "a")))
        _ = try await store.edit(UpdateChannel(channelID: channel, channel: NamedDraft(name: "C2", desc: "c")))
        _ = try await store.edit(AddChannel(channel: .named("Empty")))
    }

    @Test("A server without transactions is unavailable from the start, and the log says why")
    func standalone() async throws {
        try await withMongoServer(flags: ["--standalone"]) { server in
            try await withTemporaryFolder { folder in
                let log = RecordedLog()
                let store = try await CubePlace(folder: folder, url: server.url()).open(logger: log.logger)
                let failure = await #expect(throws: CommandFailure.self) { try await store.snapshot() }
                #expect(failure?.status == .unavailable)
                try await store.close()
                #expect(log.louderThanDebug.count == 1)
                #expect(log.louderThanDebug.first?.contains("make it a replica set") == true)
            }
        }
    }
}
