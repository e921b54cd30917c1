import AuditTrail
import FoundationEssentials

/// The files of a state directory that belong to the stored data.
struct StateFiles {
    let folder: String

    /// The file to which the hashes of the audit log are written.
    static let auditHeads = "audit-heads.log"
    /// The gateway's copies of the other services' data. After a restore they are of another history.
    static let gatewayCopies = "gateway.json"

    /// The databases, in the order in which a backup copies them while services write.
    ///
    /// What refers to another store comes before it, so that whatever it names is in the backup as well: a broadcast names its pushes, and
    /// a message its template and its subject. Each store hands its entries for the audit log over to the people service, which comes
    /// last. So an entry that is handed over meanwhile is in both stores, and the audit log drops the second copy.
    var databases: [String] {
        get throws {
            let last = ["message-log.sqlite", "templates.sqlite", "cube.sqlite", "people.sqlite"]
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") }.sorted()
            return names.filter { !last.contains($0) } + last.filter(names.contains)
        }
    }

    /// All files that a restore replaces, with the databases' write-ahead logs.
    var replaced: [String] {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return names.filter { Self.database(of: $0) != nil || $0 == Self.auditHeads || $0 == Self.gatewayCopies }.sorted()
        }
    }

    /// The database that a file belongs to; `nil` if it is none, and no write-ahead log either.
    static func database(of name: String) -> String? {
        for suffix in [".sqlite", ".sqlite-wal", ".sqlite-shm"] where name.hasSuffix(suffix) {
            return name.dropLast(suffix.count) + ".sqlite"
        }
        return nil
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }
}
