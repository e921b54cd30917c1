import Crypto
import MongoDatabase
import Schemas
import UnreadableDocuments

/// The document that counts the cube's changes. It also says how large the cube is, and what its documents look like: where they
/// look otherwise, another program has changed them.
struct CubeCount {
    let version: CubeVersion
    /// `nil` where this has not been measured yet.
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

/// What is known of all documents of `icube` together. A change is measured by the document that it changes.
struct CubeMeasure {
    /// The size of what can be read (``CubeSize``).
    var size: Int64
    /// The sum of the documents' digests, which comes out the same in any order.
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

    /// Counts one change more.
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

    /// Looks whether another program has changed the cube since it was last measured, and counts its change.
    ///
    /// - Returns: The version that stands for the change; `nil` where there is none.
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
            // What was there before the first measurement is no change.
            let version = try known == nil ? nil : connection.nextCubeCount().version
            try connection.setCubeMeasure(measure)
            return version
        }
    }
}
