import CubeStorage
import EmbeddedDatabase
import GRDB
import MongoDatabase
import Schemas
import Synchronization
import TestSupport

/// The detected foreign edits.
final class ForeignEdits: Sendable {
    private struct State {
        var checks = 0
        var versions: [CubeVersion] = []
    }

    private let state = Mutex(State())

    var checks: Int { state.withLock(\.checks) }

    var versions: [CubeVersion] { state.withLock(\.versions) }

    func looked(_ version: CubeVersion?) {
        state.withLock { state in
            state.checks += 1
            if let version { state.versions.append(version) }
        }
    }
}

extension CubePlace {
    /// Renames a channel without the store, like another program.
    func rename(_ channel: ObjectID, _ name: String) async throws {
        guard let database = try database else {
            return try await withFile { file in
                try file.execute(sql: "UPDATE channel SET name = ? WHERE id = ?", arguments: [name, channel])
            }
        }
        let server = await MongoDatabase.open(database, application: "test", logger: quietLogger)
        try await server.run { _ = try $0.update(["_id": channel.bson], ["$set": ["name": name.bson]], in: "icube") }
        await server.close()
    }

    /// Changes the SQLite file without the store.
    func withFile(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        let file = try EmbeddedDatabase(path: folder + "/cube.sqlite", durability: .processCrash) { _ in }
        try await file.write(body)
        try file.close()
    }
}

/// Runs a test while the store watches for foreign edits, as in the service.
func withForeignEdits(of store: any CubeStore, _ body: (ForeignEdits) async throws -> Void) async throws {
    let edits = ForeignEdits()
    let watch = Task {
        while !Task.isCancelled { edits.looked(try await store.nextForeignEdit()) }
    }
    try await perform {
        try await body(edits)
    } finally: {
        watch.cancel()
        _ = await watch.result
    }
}
