import Base
import Schemas
import Store

/// The cube's store: `icube`, with a document for each channel (seed, "Schema"); `cube`, with the one document of the cube's state; and the
/// queue of entries for the audit log.
enum CubeCollections {
    /// The documents have only the fields of the seed and of ``StoredChannel``. Edits check the room on the disk by their growth.
    static let channels = Collection<StoredChannel>("icube", reserve: .everything, kind: "channel", hasRevisions: false)
    /// Deletions must not fail because the disk is full.
    static let state = Collection<CubeState>(CubeNumbers.collection, reserve: .everything, hasRevisions: false)
    static let store = StoreDeclaration("cube", channels, state, audited: true)
}

/// The state of the cube: a document that each edit changes first, so that of two simultaneous edits one waits or is repeated. A cube that
/// was never changed has none.
struct CubeState: StoredDocument {
    static let id = CubeNumbers.stateID
    static let idField = Field("_id", \CubeState.id)

    let id: String
    var version: CubeVersion
    /// The version that `msi restore` has given to a restored cube (``CubeNumbers``). All objects count as changed in it.
    var restored: CubeVersion?
    /// `nil` until the cube is measured for the first time.
    var measure: CubeMeasure?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case version, restored
    }

    init(id: String, version: CubeVersion, measure: CubeMeasure? = nil) {
        self.id = id
        self.version = version
        self.measure = measure
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        version = try container.decode(CubeVersion.self, forKey: .version)
        restored = try container.decodeIfPresent(CubeVersion.self, forKey: .restored)
        // An incomplete measure is made again.
        measure = try? CubeMeasure(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(version, forKey: .version)
        try container.encodeIfPresent(restored, forKey: .restored)
        try measure?.encode(to: encoder)
    }
}
