import FoundationEssentials
import Schemas
import ServiceKit
import Store
import TestSupport
import Testing

@testable import Operator

/// The order in which a backup copies stores while services write.
@Suite("Order of a backup")
struct BackupOrderTests {
    @Test("What refers to another store comes before it")
    func files() async throws {
        try await withTemporaryFolder { folder in
            for name in ServiceEntry.all.flatMap(\.stateFiles) where name.hasSuffix(".sqlite") {
                try Data().write(to: URL(filePath: folder + "/" + name))
            }
            let order = try StateFiles(folder: folder).databases
            func place(_ name: String) throws -> Int { try #require(order.firstIndex(of: name)) }
            #expect(try place("webpush.sqlite") < place("message-log.sqlite"))
            #expect(try place("broadcast.sqlite") < place("message-log.sqlite"))
            #expect(try place("study.sqlite") < place("message-log.sqlite"))
            #expect(try place("message-log.sqlite") < place("cube.sqlite"))
            #expect(order.last == "people.sqlite")
        }
    }

    @Test("From MongoDB the subscriptions and fan-outs of Web Push come before the archive, and the other collections after it")
    func collections() throws {
        let stores = RegisteredStores.all
        #expect(stores.count == 3)
        #expect(stores.map(\.requiredFiles) == [[], ["message-log.sqlite"], ["cube.sqlite"]])
    }
}
