import Base
import FoundationEssentials
import Glibc
import Logging
import Archive
import AuditTrail
import Store
import Schemas
import Synchronization

/// The data of a backup, ready to be put into place: the folder `restore.ready` in the state directory.
///
/// The folder gets its name when everything in it is complete, and loses it when the last file is in place. In between, a restore that is
/// interrupted is finished by the next one, and services do not start.
struct ReadyRestore {
    /// The file that describes it.
    private static let plan = "restore.json"
    /// The file that marks that all data is in place. Services may then use the data, so it is not copied again.
    private static let complete = "complete"
    /// The author of the holds, in the traces of messages and pushes.
    private static let actor = "msi restore"

    struct Plan: NumberedFile, Hashable {
        static let formats = FormatVersions(written: 1, readable: 1...1)

        let manifest: BackupManifest
        /// Where it is restored to.
        let target: BackupManifest.Database
        /// The folder in the state directory that takes the replaced files.
        let aside: String
        /// How many messages and pushes are held.
        let held: Int
        /// `nil` for a backup without a log of erasures.
        let erasures: RestoredErasures?
    }

    /// The state directory.
    let folder: String
    let plan: Plan
    /// Whether nothing of it is in place yet.
    let isNew: Bool

    private static func path(in folder: String) -> String { folder + "/" + StateLock.unfinishedRestore }

    private var path: String { Self.path(in: folder) }

    // MARK: Prepare

    /// Copies and checks a backup, and holds what has not ended in it.
    ///
    /// - Throws: ``BackupFailure`` or ``CommandFailure``. Then nothing has changed.
    static func prepare(
        _ manifest: BackupManifest, of backup: String, in folder: String, to target: BackupManifest.Database,
        progress: ProgressLine
    ) async throws -> ReadyRestore {
        let draft = folder + "/" + StateLock.incompleteRestore
        // Left by a restore that was killed.
        try removeLeft(StateLock.incompleteRestore, in: folder)
        try removeLeft(StateLock.doneRestore, in: folder)
        try DurableFiles.makeFolder(draft)
        do {
            for file in manifest.files {
                let contents = try FileContents.copy(backup + "/" + file.name, to: draft + "/" + file.name) { bytes in
                    progress.show("copying \(file.name)", file.bytes == 0 ? 1 : min(1, Double(bytes) / Double(file.bytes)))
                }
                guard contents == FileContents(of: file) else {
                    throw BackupFailure(
                        "\(backup)/\(file.name) is damaged: it is not the file that \(BackupManifest.name) describes. Nothing was changed"
                    )
                }
            }
            for file in ["cube.sqlite", "webpush.sqlite"] { try StoredDocuments.check(file, in: draft) }
            let now = UnixMilliseconds.now
            let held = try await hold(in: draft, at: now, progress: progress)
            try await raiseNumbers(in: draft, to: RestoredNumber(restored: now))
            try await repeatErasures(in: draft, notEndedBefore: manifest.begun - RepeatedErasures.tolerance)
            let aside = newName(like: "replaced-" + now.formattedForFile, in: folder)
            let plan = Plan(
                manifest: manifest, target: target, aside: aside, held: held,
                erasures: try RestoredErasures(manifest, in: draft, to: folder))
            let json = String(decoding: try plan.encoded(), as: UTF8.self)
            try DurableFiles.replace(draft + "/" + Self.plan, json)
            for name in try FileManager.default.contentsOfDirectory(atPath: draft) {
                try DurableFiles.syncFile(draft + "/" + name)
            }
            try DurableFiles.rename(draft, to: path(in: folder))
            return ReadyRestore(folder: folder, plan: plan, isNew: true)
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error
        }
    }

    private static func removeLeft(_ name: String, in folder: String) throws {
        let path = folder + "/" + name
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// A name that does not exist: two restores may begin within one second, or the clock may be set back.
    private static func newName(like name: String, in folder: String) -> String {
        var (new, number) = (name, 1)
        while FileManager.default.fileExists(atPath: folder + "/" + new) {
            number += 1
            new = "\(name)-\(number)"
        }
        return new
    }

    /// Holds the outbox, and what other services would still push.
    private static func hold(in folder: String, at now: UnixMilliseconds, progress: ProgressLine) async throws -> Int {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let store = try await openMessageStore(database: nil, folder: folder, logger: logger)
        let outcome: Result<Int, any Error>
        do {
            outcome = .success(
                try await store.holdAfterRestore(by: actor, at: now) {
                    progress.show("holding what has not ended", Double($0) / Double($1))
                })
        } catch {
            outcome = .failure(error)
        }
        try await store.close()
        let held = try outcome.get()
        try await StoredDocuments.set(
            BroadcastHold.field, to: now.rawValue, inAllWith: BroadcastHold.plannedField, of: BroadcastHold.collection, in: folder
        )
        try await StoredDocuments.set(
            PersonPushHold.field, to: now.rawValue, inAllWith: PersonPushHold.plannedField, of: PersonPushHold.collection,
            in: folder)
        try await endStudySessions(in: folder, at: now)
        return held
    }

    /// Study sessions that were open have ended since the backup, and nobody is told about them now.
    private static func endStudySessions(in folder: String, at now: UnixMilliseconds) async throws {
        try await StoredDocuments.change(StudyHold.sessions, in: folder) { fields in
            guard fields[StudyHold.openField] != nil else { return }
            fields[StudyHold.field] = .int64(now.rawValue)
            fields[StudyHold.dueField] = .int64(0)
        }
        try await StoredDocuments.set(
            StudyHold.field, to: now.rawValue, inAllWith: StudyHold.plannedField, of: StudyHold.pushes, in: folder)
    }

    /// Raises the numbers that others may have seen in data that was written after the backup.
    private static func raiseNumbers(in folder: String, to number: RestoredNumber) async throws {
        let greatestID = Mutex<Int64>(0)
        try await StoredDocuments.change(BroadcastHold.collection, in: folder) { fields in
            if let id = fields["_id"].flatMap({ Int64(bson: $0) }) { greatestID.withLock { $0 = max($0, id) } }
            guard let version = fields[BroadcastNumbers.broadcast, BroadcastNumbers.version].flatMap({ Int64(bson: $0) }) else {
                return
            }
            try fields.set(BroadcastNumbers.broadcast, BroadcastNumbers.version, to: .int64(number.after(version)))
        }
        let nextID = number.after(greatestID.withLock(\.self))
        try await StoredDocuments.change(
            BroadcastNumbers.counter, in: folder, makingIfMissing: BroadcastNumbers.counterID
        ) { fields in
            let count = fields[BroadcastNumbers.count].flatMap { Int64(bson: $0) } ?? 0
            fields[BroadcastNumbers.count] = .int64(number.after(count))
            fields[BroadcastNumbers.nextID] = .int64(nextID)
        }
        // Its entity tags have the revision.
        try await StoredDocuments.raiseRevisions(of: MessageTemplate.kind, in: folder) {
            Revision(rawValue: number.after($0.rawValue))
        }
        // An edit of an object that was seen after the backup is then a conflict, and no client takes the restored cube for a later one that
        // had the same number.
        try await StoredDocuments.change(
            CubeNumbers.collection, in: folder, makingIfMissing: CubeNumbers.stateID
        ) { fields in
            let version = fields[CubeNumbers.version].flatMap { Int64(bson: $0) } ?? 0
            fields[CubeNumbers.version] = .int64(number.after(version))
            fields[CubeNumbers.restored] = .int64(number.after(version))
        }
    }

    /// Those that have not ended are repeated as well: a service may have answered after its own store was copied.
    private static func repeatErasures(in folder: String, notEndedBefore time: UnixMilliseconds) async throws {
        try await StoredDocuments.change(RepeatedErasures.collection, in: folder) { fields in
            let end = fields[RepeatedErasures.endField].flatMap { Int64(bson: $0) }
            if let end, end <= time.rawValue { return }
            fields[RepeatedErasures.endField] = nil
            fields[RepeatedErasures.expiryField] = nil
            fields[RepeatedErasures.servicesField] = .array([])
        }
    }

    // MARK: Finish

    /// A restore that was interrupted after it had begun to replace files; `nil` if there is none.
    static func unfinished(in folder: String) throws -> ReadyRestore? {
        let path = path(in: folder)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let json = FileManager.default.contents(atPath: path + "/" + plan) else {
            throw BackupFailure("\(path) has no \(plan); remove that folder if no msi restore has made it")
        }
        do {
            return ReadyRestore(folder: folder, plan: try Plan.read(json, from: path + "/" + plan), isNew: false)
        } catch let error as UnknownFormat {
            throw BackupFailure("\(error): finish the restore with the version that began it")
        }
    }

    /// Puts the data into place. It can be interrupted and run again.
    ///
    /// - Returns: The folder with the replaced files; `nil` if there were none.
    func finish(_ database: MongoURL?, progress: ProgressLine) async throws -> String? {
        switch (plan.target, database) {
        case (.sqlite, nil), (.mongodb, _?): break
        case (.sqlite, _?):
            throw BackupFailure(
                "a restore to SQLite was interrupted in \(folder): run it again without MSI_DATABASE_URL to finish it")
        case (.mongodb, nil):
            throw BackupFailure(
                "a restore to MongoDB was interrupted in \(folder): run it again with its MSI_DATABASE_URL to finish it")
        }
        if !has(Self.complete) {
            if let database { try await copy(to: database.duringRestore, progress: progress) }
            // First, so that no service begins with restored data and without the erasures.
            if plan.erasures != nil { try ErasureLog(stateDirectory: folder).merge(ErasureLog(stateDirectory: path)) }
            try moveAside()
            for file in plan.manifest.files where isPlaced(file.name) && has(file.name) {
                try DurableFiles.move(path + "/" + file.name, to: folder + "/" + file.name)
            }
            try DurableFiles.replace(path + "/" + Self.complete, "")
        }
        if let database { try await change(database.duringRestore) { try $0.removeRestoreMark() } }
        try remove()
        let aside = folder + "/" + plan.aside
        return FileManager.default.fileExists(atPath: aside) ? aside : nil
    }

    /// Whether a file belongs into the state directory. With MongoDB the databases do not, and the log of erasures is merged.
    private func isPlaced(_ name: String) -> Bool {
        name != ErasureLog.name && (plan.target == .sqlite || StateFiles.database(of: name) == nil)
    }

    private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

    /// Moves the replaced files away, each database with its write-ahead log. A file that is in place already is not moved.
    private func moveAside() throws {
        let restored = Set(plan.manifest.files.map(\.name))
        // This includes missing files: the backup may be older than their stores.
        if plan.target == .sqlite { KnownStores.forgetAll(in: folder) }
        for name in try StateFiles(folder: folder).replaced where isPlaced(name) {
            let file = StateFiles.database(of: name) ?? name
            guard has(file) || !restored.contains(file) else { continue }
            try DurableFiles.makeFolder(folder + "/" + plan.aside)
            try DurableFiles.move(folder + "/" + name, to: folder + "/" + plan.aside + "/" + name)
        }
    }

    private func copy(to url: MongoURL, progress: ProgressLine) async throws {
        let places = MovePlaces(folder: path, url: url, target: .mongodb)
        var moves: [any StoreMove] = []
        let outcome: Result<Void, any Error>
        do {
            for store in RegisteredStores.all { moves.append(try await store.open(places)) }
            outcome = .success(try await copy(moves, to: url, progress))
        } catch {
            outcome = .failure(error)
        }
        for move in moves { try await move.close() }
        try outcome.get()
    }

    private func copy(_ moves: [any StoreMove], to url: MongoURL, _ progress: ProgressLine) async throws {
        do {
            for move in moves { try await move.checkTarget() }
        } catch {
            // Nothing was written. After an interruption the data stays ready, for the same database or an empty one.
            if isNew { try remove() }
            throw error
        }
        try await change(url) { try $0.markRestore() }
        try await Migration(moves: moves) { progress.show($0) }.run()
    }

    private func change(_ url: MongoURL, _ body: @escaping @Sendable (MongoConnection) throws -> Void) async throws {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let database = await MongoDatabase.open(url, application: "msi", logger: logger)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await MongoError.asFailure { try await database.run(body) })
        } catch {
            outcome = .failure(error)
        }
        await database.close()
        try outcome.get()
    }

    private func remove() throws {
        let done = folder + "/" + StateLock.doneRestore
        try Self.removeLeft(StateLock.doneRestore, in: folder)
        try DurableFiles.rename(path, to: done)
        try FileManager.default.removeItem(atPath: done)
    }
}

extension FileContents {
    fileprivate init(of file: BackupManifest.File) {
        self.init(bytes: file.bytes, sha256: file.sha256)
    }
}

extension UnixMilliseconds {
    /// `20261125T221500Z`.
    fileprivate var formattedForFile: String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }
}

/// The next numbers of restored data that clients remember: phones the numbers of broadcasts; browsers, gateways and programs the
/// versions in entity tags.
///
/// The numbers that were given after the backup are lost, and must not be given again. The seconds since 2026 are above all of them, and
/// above those given after an earlier restore, as long as there is less than one change a second. They fit into 31 bits until 2094.
struct RestoredNumber: Sendable {
    private static let step: Int64 = 1_000_000
    private static let start = UnixMilliseconds(rawValue: 1_767_225_600_000)

    /// The time of the restore.
    let restored: UnixMilliseconds

    /// - Parameter number: The one in the backup.
    func after(_ number: Int64) -> Int64 {
        max((restored - Self.start).rawValue / 1_000, number + Self.step)
    }
}
