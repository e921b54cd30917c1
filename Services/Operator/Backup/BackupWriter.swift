import AuditTrail
import Base
import Store
import FoundationEssentials
import Glibc
import Schemas

/// Writes a backup while services run.
///
/// It is written to a folder beside its place, read again and compared, and gets its name as the last step.
struct BackupWriter {
    /// The state directory.
    let folder: String
    /// MongoDB; `nil` for the SQLite files of the state directory.
    let database: MongoURL?
    let target: String
    let progress: ProgressLine

    private var draft: String { target + ".incomplete" }

    /// - Throws: ``BackupFailure``, ``DatabaseCopyFailure``, ``DurableFileFailure`` or ``CommandFailure``. Then there is no backup, and
    ///   its draft is removed.
    func run() async throws -> BackupManifest {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw BackupFailure("\(target) exists already; each backup needs a new name")
        }
        try BackupPlace(target: target).check(stateDirectory: folder)
        try refuseForeignDraft()
        try DurableFiles.makeFolder(draft)
        let lock = try lockDraft()
        defer { close(lock) }
        do {
            // Left by a backup that was killed.
            for name in try FileManager.default.contentsOfDirectory(atPath: draft) {
                try FileManager.default.removeItem(atPath: draft + "/" + name)
            }
            let manifest = try await write()
            do {
                try DurableFiles.move(draft, to: target)
            } catch {
                throw BackupFailure("\(error)")
            }
            return manifest
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error
        }
    }

    /// A folder that another user has made, or a link, would give the data away.
    private func refuseForeignDraft() throws(BackupFailure) {
        var status = stat()
        guard lstat(draft, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw BackupFailure("\(draft) is a link, or belongs to another user; remove it, or choose another name")
        }
    }

    /// Locks the folder against another backup to the same place, and closes it to other users. The kernel releases the lock when this
    /// process ends.
    private func lockDraft() throws(BackupFailure) -> Int32 {
        let descriptor = open(draft, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupFailure("\(draft) cannot be opened: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw BackupFailure("another msi backup is writing to \(target)")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), fchmod(descriptor, 0o700) == 0 else {
            close(descriptor)
            throw BackupFailure("\(draft) belongs to another user; remove it, or choose another name")
        }
        return descriptor
    }

    private func write() async throws -> BackupManifest {
        let begun = UnixMilliseconds.now
        var files: [BackupManifest.File] = []
        // The hashes come first: those that are written later belong to entries that may be missing in the copy of the audit log.
        files += try copyLog(StateFiles.auditHeads)
        let source = database == nil ? folder : draft + "/source"
        if let database { try await read(database, into: source) }
        for name in try StateFiles(folder: source).databases { files.append(try await copy(name, from: source)) }
        if database != nil { try FileManager.default.removeItem(atPath: source) }
        // Last, so that it names all whom a restore of the copies above would bring back.
        files += try copyLog(ErasureLog.name)
        let manifest = BackupManifest(
            format: BackupManifest.formats.written, product: productVersion, begun: begun,
            database: database == nil ? .sqlite : .mongodb, files: files)
        let json = String(decoding: try JSONCoder.encode(manifest), as: UTF8.self) + "\n"
        try DurableFiles.replace(draft + "/" + BackupManifest.name, json)
        guard try BackupManifest.read(in: draft) == manifest else {
            throw BackupFailure("\(draft)/\(BackupManifest.name) differs from what was written to it")
        }
        return manifest
    }

    /// Copies a file to which a service adds lines.
    ///
    /// - Returns: Nothing if there is no such file.
    private func copyLog(_ name: String) throws -> [BackupManifest.File] {
        guard StateFiles(folder: folder).has(name) else { return [] }
        let contents = try FileContents.copy(folder + "/" + name, to: draft + "/" + name)
        return [try verified(name, contents, rows: nil)]
    }

    /// Copies a database, and compares the copy with the snapshot.
    private func copy(_ name: String, from source: String) async throws -> BackupManifest.File {
        let path = draft + "/" + name
        let rows = try await DatabaseCopy.make(of: source + "/" + name, at: path) { [progress] part in
            progress.show("copying \(name)", part)
        }
        progress.show("verifying \(name)")
        guard try await DatabaseCopy.verify(path) == rows else {
            throw BackupFailure("\(path) has other rows than the database it was copied from")
        }
        return try verified(name, try FileContents(of: path), rows: rows)
    }

    /// The entry of a file, which is read again from the disk.
    private func verified(_ name: String, _ contents: FileContents, rows: [String: Int]?) throws -> BackupManifest.File {
        guard chmod(draft + "/" + name, 0o600) == 0, try FileContents(of: draft + "/" + name) == contents else {
            throw BackupFailure("\(draft)/\(name) differs from what was written to it")
        }
        return BackupManifest.File(name: name, bytes: contents.bytes, sha256: contents.sha256, rows: rows)
    }

    /// Copies the data from MongoDB into SQLite files.
    private func read(_ database: MongoURL, into source: String) async throws {
        let places = MovePlaces(folder: source, url: database, target: .sqlite)
        for store in RegisteredStores.all {
            let move = try await store.open(places)
            let outcome: Result<Void, any Error>
            do {
                try await move.copyWhileInUse { progress.show($0) }
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            try await move.close()
            try outcome.get()
        }
    }
}

/// The files of a state directory that belong to the stored data.
struct StateFiles {
    let folder: String

    /// The file to which the hashes of the audit log are written.
    static let auditHeads = "audit-heads.log"
    /// The gateway's copies of the other services' data. After a restore they no longer match.
    static let gatewayCopies = "gateway.json"

    /// The databases, in the order in which a backup copies them while services write.
    ///
    /// What refers to another store comes before it, so that whatever it names is in the backup as well: a broadcast names its pushes, a
    /// fan-out of Web Push its blocks in the message log, and a message its template and its subject. The study
    /// service hands pushes over to the message log. Each store hands its entries for the audit log over to the people service, which comes
    /// last. So an entry that is handed over during the backup is in both stores, and the audit log drops the second copy.
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

    /// The database that a file belongs to; `nil` if it is neither a database nor a write-ahead log.
    static func database(of name: String) -> String? {
        for suffix in [".sqlite", ".sqlite-wal", ".sqlite-shm"] where name.hasSuffix(suffix) {
            return name.dropLast(suffix.count) + ".sqlite"
        }
        return nil
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }
}
