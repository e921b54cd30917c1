import Crypto
package import FoundationEssentials
import Base

/// A store that `msi migrate` can move. `RegisteredStores` lists them.
package protocol MovableStore: Sendable {
    /// The SQLite files that a service always creates. A folder without them is the wrong one.
    var requiredFiles: [String] { get }

    func open(_ places: MovePlaces) async throws -> any StoreMove
}

/// The source and the target of a move.
package struct MovePlaces: Sendable {
    /// The folder of the SQLite files.
    package let folder: String
    package let url: MongoURL
    package let target: Target

    package enum Target: String, CaseIterable, Sendable {
        case sqlite, mongodb
    }

    package init(folder: String, url: MongoURL, target: Target) {
        self.folder = folder
        self.url = url
        self.target = target
    }

    /// Advice for the operator if the target contains something else.
    package var otherTarget: String {
        switch target {
        case .sqlite: "an empty folder: set MSI_STATE_DIR to another one"
        case .mongodb: "an empty database: give it another name in MSI_DATABASE_URL, after the hosts"
        }
    }

    /// The source and the target.
    package func sides<Side>(sqlite: Side, mongodb: Side) -> (source: Side, target: Side) {
        target == .mongodb ? (sqlite, mongodb) : (mongodb, sqlite)
    }
}

/// The move of one store's data from one database to the other. It can be interrupted at any time and run again. It changes
/// no document of its source; it may move audit entries there into their queue.
package protocol StoreMove: Sendable {
    /// Checks that the target contains only the source's data, in its current or an earlier state. Writes nothing.
    ///
    /// - Throws: ``MigrationFailure`` if the target contains anything else; ``CommandFailure`` if a side cannot be used.
    func checkTarget() async throws

    /// Copies missing documents to the target, and updates changed ones.
    ///
    /// - Parameter report: Reports the progress to the operator.
    func copy(report: (String) -> Void) async throws

    /// Copies to an empty target while services write to the source.
    func copyWhileInUse(report: (String) -> Void) async throws

    /// Reads both sides.
    ///
    /// - Returns: A comparison for each part of the store.
    func compare() async throws -> [StoreComparison]

    func close() async throws
}

extension StoreMove {
    package func copyWhileInUse(report: (String) -> Void) async throws {
        try await copy(report: report)
    }
}

/// The contents of both sides of a move, compared.
package struct StoreComparison: Sendable {
    let name: String
    let things: String
    let source: StoreDigest
    let target: StoreDigest

    /// - Parameters:
    ///   - name: The name of the moved part.
    ///   - things: The plural of its elements.
    package init(_ name: String, of things: String, source: StoreDigest, target: StoreDigest) {
        self.name = name
        self.things = things
        self.source = source
        self.target = target
    }

    /// The report to the operator.
    ///
    /// - Throws: ``MigrationFailure`` if the sides differ.
    package var report: String {
        get throws {
            guard source == target else {
                throw MigrationFailure(
                    "\(name): the source has \(source.count) \(things) with digest \(source), the target \(target.count) with "
                        + "digest \(target). Another process has written to one of them during the copy: stop all services on every "
                        + "machine, and copy again")
            }
            return "\(name): \(source.count) \(things), digest \(source), the same on both sides"
        }
    }
}

/// Why a migration failed.
package struct MigrationFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The target contains something that a copy must not overwrite.
    package static func otherContents(_ reason: String, otherTarget: String) -> MigrationFailure {
        MigrationFailure(
            "the target is not empty, and not an earlier copy of the source: \(reason). Nothing was written. If the services have "
                + "worked with the target since the last copy, start them with it; otherwise copy to \(otherTarget)")
    }
}

/// A digest of a store's documents. Two stores with equal digests contain the same documents, in any order.
package struct StoreDigest: Hashable, CustomStringConvertible, Sendable {
    package var count = 0
    /// The exclusive or of the documents' SHA-256. No document occurs twice, so documents do not cancel each other out.
    private var bytes = [UInt8](repeating: 0, count: SHA256.byteCount)

    package init() {}

    /// Adds a document by its JSON.
    package mutating func add(_ document: some Encodable) throws {
        add(try JSONCoder.encode(document))
    }

    /// Adds a document.
    ///
    /// - Parameter document: Its bytes, in a form that is the same on both sides.
    package mutating func add(_ document: Data) {
        count += 1
        for (index, byte) in SHA256.hash(data: document).enumerated() { bytes[index] ^= byte }
    }

    /// The first eight bytes, which are enough to compare by eye.
    package var description: String {
        bytes.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}
