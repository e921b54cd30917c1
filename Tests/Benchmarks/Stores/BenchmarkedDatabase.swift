import FoundationEssentials
import Logging
import Archive
import Store
import Schemas
import TestSupport

/// A database whose store is measured, and the peer that writes to it without the store.
enum BenchmarkedDatabase {
    /// Files in a folder.
    case sqlite(folder: String, peers: String)
    /// A deployment. Each measurement uses a new database, which is not removed.
    case mongodb(MongoURL, text: String, peers: String)

    /// The place of one measurement's messages.
    enum Place {
        case file(String)
        case url(String)
    }

    var name: String {
        switch self {
        case .sqlite: "SQLite"
        case .mongodb: "MongoDB"
        }
    }

    /// Runs a body with a new, empty store.
    func withStore<Value>(_ body: (any MessageStore, Place) async throws -> Value) async throws -> Value {
        let name = "benchmark\(ObjectID())"
        switch self {
        case .sqlite(let folder, _):
            let file = "\(folder)/\(name)/message-log.sqlite"
            let store = try SQLiteMessageStore(path: file)
            let value = try await body(store, .file(file))
            try await store.close()
            return value
        case .mongodb(_, let text, _):
            let url = Self.url(text, database: name)
            let store = await MongoMessageStore(url: try MongoURL(url), logger: Logger(label: "benchmark"))
            do {
                let value = try await body(store, .url(url))
                await store.close()
                return value
            } catch {
                await store.close()
                throw error
            }
        }
    }

    /// Runs the peer on a database whose tables or indexes a store has created.
    func raw(_ place: Place, clients: Int, seconds: Double) async throws -> (count: Double, seconds: Double) {
        switch (self, place) {
        case (.sqlite(_, let peers), .file(let file)), (.mongodb(_, _, let peers), .file(let file)):
            try await Peer(path: peers + "/raw_sqlite").run([file, String(clients), String(seconds)])
        case (.sqlite(_, let peers), .url(let url)), (.mongodb(_, _, let peers), .url(let url)):
            try await Peer(path: peers + "/raw_mongodb").run(
                [String(clients), String(seconds)], environment: ["MSI_DATABASE_URL": url])
        }
    }

    /// Runs a body with the deployment at `MSI_DATABASE_URL`, or with the tests' own server.
    ///
    /// - Parameters:
    ///   - folder: The folder for the server's files.
    ///   - body: Gets the connection string, and the server's process if it was started here.
    static func withMongoDB<Value>(in folder: String, _ body: (String, Int32?) async throws -> Value) async throws -> Value {
        if let url = ProcessInfo.processInfo.environment["MSI_DATABASE_URL"] { return try await body(url, nil) }
        let server = try await MongoServer.start(in: folder)
        do {
            let value = try await body(server.url(), server.identifier)
            await server.kill()
            return value
        } catch {
            await server.kill()
            throw error
        }
    }

    /// Another database of the same deployment.
    static func url(_ text: String, database: String) -> String {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let hosts = parts[0].split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
        return "\(hosts)/\(database)" + (parts.count == 2 ? "?\(parts[1])" : "")
    }
}
