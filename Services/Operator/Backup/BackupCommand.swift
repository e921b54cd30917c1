import ArgumentParser
import Base
import FoundationEssentials
import Glibc
import Store
import Schemas
import ServiceKit

/// `msi backup`: writes all data into a folder.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Writes all data of the services into a new folder, while they run.",
        discussion: """
            The data is that of the SQLite files in MSI_STATE_DIR, or of the MongoDB database at MSI_DATABASE_URL. Everything that was \
            accepted before the command began is in the copy. Each SQLite store is copied as it is at one moment. From MongoDB the \
            collections of Web Push are, then each message, and all other collections together after them: a broadcast that becomes due \
            during the copy may be noted as pushed without its push. A backup of MongoDB needs twice the space of the data while it is \
            written. The command reads what it has written again, checks it, and only then gives the folder its name.

            The folder contains everything: texts of messages, accounts with the hashes of their passwords, the secrets of second \
            factors, and the subscriptions and signing keys of Web Push. Only its owner may read it. Keep it as safe as the data itself, on \
            another disk. msi restore restores it.

            The folder that is to contain the new one must exist: otherwise a backup to a disk that is not mounted would go to the disk \
            below. A place inside MSI_STATE_DIR or inside another backup is refused.

            Exit status: 0 if the backup is complete, 1 if there is none, 78 if a setting is wrong.
            """)

    @Argument(help: "The new folder, such as /var/backups/msi/2026-11-25.", completion: .directory)
    var folder: String

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run() async throws {
        let progress = ProgressLine()
        try await BackupErrors.reported(progress) {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            for warning in settings.warnings { StandardError.write("msi backup: \(warning)\n") }
            let source = try settings.value(.stateDirectory)
            if let change = try StateDirectory.secure(source, onlyChecks: true) { StandardError.write("msi backup: \(change)\n") }
            let database = try settings.optional(.databaseURL, as: MongoURL.init)
            let target = try BackupErrors.absolute(folder)
            let lock = try lockData(in: source, isInMongoDB: database != nil)
            defer { lock?.release() }
            if let warning = BackupTrust.warning(aboutPlaceOf: target) { StandardError.write("msi backup: \(warning)\n") }
            let writer = BackupWriter(folder: source, database: database, target: target, progress: progress)
            let manifest = try await writer.run()
            progress.clear()
            show(manifest, at: target)
        }
    }

    /// Keeps restores and migrations from changing the files during the backup. Services share the lock.
    private func lockData(in folder: String, isInMongoDB: Bool) throws -> StateLock? {
        if isInMongoDB {
            try StateLock.requireNoUnfinishedRestore(in: folder)
            return nil
        }
        for file in RegisteredStores.all.flatMap(\.requiredFiles) where !StateFiles(folder: folder).has(file) {
            throw StartFailure(description: "there is no \(file) in \(folder); MSI_STATE_DIR names the services' folder")
        }
        for file in KnownStores.lost(in: folder) { try KnownStores.requirePresent(file, in: folder) }
        let lock = try StateLock(
            .data, .shared, in: folder, orElse: "msi restore or msi migrate is at work with the data in \(folder)")
        do {
            try StateLock.requireNoUnfinishedRestore(in: folder)
        } catch {
            lock.release()
            throw error
        }
        return lock
    }

    private struct Report: Encodable {
        let backup: String
        let manifest: BackupManifest
    }

    private func show(_ manifest: BackupManifest, at target: String) {
        if printsJSON, let json = try? JSONCoder.encode(Report(backup: target, manifest: manifest)) {
            return print(String(decoding: json, as: UTF8.self))
        }
        let subscriptions = manifest.rows(of: "webpush_subscription", in: "webpush.sqlite")
        print(
            "backup complete and verified: \(target), \(manifest.files.count) files, \(manifest.bytes) bytes, "
                + "\(manifest.rows(of: "message", in: "message-log.sqlite")) messages"
                + (subscriptions == 0 ? "" : ", \(subscriptions) Web Push subscriptions"))
    }
}
