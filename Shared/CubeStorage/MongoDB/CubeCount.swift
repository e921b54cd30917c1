import Crypto
import MongoDatabase
import Schemas
import UnreadableDocuments

/// The document that counts the cube's changes. It also contains the cube's size and a digest of its documents. If the digest
/// differs, another program has changed them.
struct CubeCount {
    let version: CubeVersion
    /// `nil` if it has not been measured yet.
    let measure: CubeMeasure?

    init(_ document: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(document)
        version = try fields.value("version")
        if let size: Int64 = try fields.optional("size"), let digest: Int64 = try fields.optional("digest") {
            measure = CubeMeasure(size: size, digest: digest)
        } else {
            measure = nil
        }
    }
}

/// The measure of all documents of `icube`. A change updates it by the changed document.
struct CubeMeasure {
    /// The size of the readable parts (``CubeSize``).
    var size: Int64
    /// The sum of the documents' digests, which does not depend on their order.
    var digest: Int64

    /// The digest of one document; 0 for one that does not exist.
    static func digest(of document: BSONDocument?) -> Int64 {
        guard let document else { return 0 }
        let hash = document.withUnsafeBytes { SHA256.hash(data: $0) }
        return hash.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
    }

    static func digest(of documents: [BSONDocument]) -> Int64 {
        documents.reduce(0) { $0 &+ digest(of: $1) }
    }
}

extension MongoConnection {
    func storedCubeCount() throws -> CubeCount? {
        try find(CubeCollections.counter, in: CubeCollections.cube).first.map { try CubeCount($0) }
    }

    /// Counts one more change.
    func nextCubeCount() throws -> CubeCount {
        let reply = try write([
            "findAndModify": .string(CubeCollections.cube), "query": .document(CubeCollections.counter),
            "update": ["$inc": ["version": .int64(1)]], "new": true, "upsert": true,
        ])
        return try CubeCount(try BSONFields(reply).value("value"))
    }

    func setCubeMeasure(_ measure: CubeMeasure) throws {
        _ = try update(
            CubeCollections.counter, ["$set": ["size": .int64(measure.size), "digest": .int64(measure.digest)]],
            in: CubeCollections.cube)
    }

    /// Measures the whole cube.
    func measureCube(_ unreadable: UnreadableDocuments) throws -> CubeMeasure {
        let documents = try channelDocuments()
        return CubeMeasure(
            size: try CubeSize.of(channels(in: documents, unreadable)), digest: CubeMeasure.digest(of: documents))
    }

    /// Checks whether another program has changed the cube since it was last measured, and counts the change.
    ///
    /// - Returns: The version of the change; `nil` if there is none.
    func countForeignEdit(_ unreadable: UnreadableDocuments) throws -> CubeVersion? {
        let isAsMeasured = try transaction { connection in
            let measure = try connection.storedCubeCount()?.measure
            return try measure?.digest == CubeMeasure.digest(of: connection.channelDocuments())
        }
        guard !isAsMeasured else { return nil }
        return try transaction { connection in
            let known = try connection.storedCubeCount()?.measure
            let measure = try connection.measureCube(unreadable)
            guard known?.digest != measure.digest else { return nil }
            // The first measurement is no change.
            let version = try known == nil ? nil : connection.nextCubeCount().version
            if let version { try connection.addCubeAudit([CubeRecord.foreignEdit(version).entry(by: .program)]) }
            try connection.setCubeMeasure(measure)
            return version
        }
    }
}
