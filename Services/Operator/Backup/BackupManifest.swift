import FoundationEssentials
import JSON
import ProductVersion
import Schemas

/// The file `manifest.json` of a backup: what the backup contains.
struct BackupManifest: Codable, Hashable, Sendable {
    static let name = "manifest.json"
    /// The form of a backup. A change that an older `msi` cannot read adds one.
    static let currentFormat = 1

    /// The kind of database that the data was in.
    enum Database: String, ClosedEnum {
        case sqlite, mongodb
    }

    struct File: Codable, Hashable, Sendable {
        let name: String
        let bytes: Int64
        let sha256: String
        /// The number of rows in each table of a database.
        let rows: [String: Int]?
    }

    let format: Int
    /// The version of the product that wrote it.
    let product: String
    /// When it was begun. It contains everything that was accepted before. From MongoDB it may have a broadcast as pushed that became due
    /// later, without the push.
    let begun: UnixMilliseconds
    let database: Database
    let files: [File]

    var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    /// How many rows a table has; 0 if it is not there.
    func rows(of table: String, in file: String) -> Int {
        files.first { $0.name == file }?.rows?[table] ?? 0
    }

    /// Reads the manifest of a backup.
    ///
    /// - Throws: ``BackupFailure`` if there is none, or it is one that this version cannot restore.
    static func read(in folder: String) throws -> BackupManifest {
        let path = folder + "/" + name
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BackupFailure("\(folder) is no backup: \(path) cannot be read")
        }
        let manifest: BackupManifest
        do {
            let head = try JSONCoder.decode(Head.self, from: data)
            guard head.format <= currentFormat, !ProductRelease(head.product).isNewer(than: ProductRelease(productVersion)) else {
                throw BackupFailure(
                    "\(folder) was written by version \(head.product), and this is version \(productVersion), which may not know "
                        + "everything in it; restore it with version \(head.product) or a newer one")
            }
            manifest = try JSONCoder.decode(BackupManifest.self, from: data)
        } catch let failure as BackupFailure {
            throw failure
        } catch {
            throw BackupFailure("\(path) is damaged: \(error)")
        }
        guard manifest.files.allSatisfy({ $0.name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]*/) != nil }) else {
            throw BackupFailure("\(path) is damaged: it names a file outside the backup")
        }
        return manifest
    }

    /// Whether a folder is a backup, of any version.
    static func isInFolder(_ folder: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: folder + "/" + name) else { return false }
        return (try? JSONCoder.decode(Head.self, from: data)) != nil
    }

    /// What every format has.
    private struct Head: Decodable {
        let format: Int
        let product: String
    }
}

/// A version of the product, compared by its numbers.
private struct ProductRelease {
    private let numbers: [Int]

    init(_ text: String) {
        numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 }
    }

    func isNewer(than other: ProductRelease) -> Bool {
        other.numbers.lexicographicallyPrecedes(numbers)
    }
}
