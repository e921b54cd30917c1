import ArgumentParser
import Base
import FoundationEssentials
import Glibc
import Store
import Schemas
import ServiceKit

/// `msi restore`: puts the data of a backup into place.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Puts the data of a backup into place, while the services are stopped.",
        discussion: """
            Stop the services first, on every machine. The data goes to SQLite files in MSI_STATE_DIR, or to the MongoDB database at \
            MSI_DATABASE_URL, which must be empty. The backup is checked before anything is changed. A restore that is interrupted is \
            finished by running the command again; services with this MSI_STATE_DIR do not start before that. With MongoDB, those that are \
            started on other machines wait for the end of the restore. All services must be of this version.

            Messages and pushes that had not ended are held, since they may have gone out after the backup was made. So are scheduled ones, \
            and those that wait for an approval. Nothing of that goes out until msi outbox release says so. What is posted after the \
            restore goes out as always. Study sessions that were open have ended, and nobody is told.

            Persons who were erased since the backup are erased again at the start: erasures.log in MSI_STATE_DIR says who they are, and is \
            kept. On a new machine, copy it from the earlier one before the start.

            The backup has the accounts and their rights, so it must belong to this user or to root, and no one else may write to it; \
            --trust restores another one.

            Exit status: 0 if the data is in place, 1 if it is not, 78 if a setting is wrong.
            """)

    @Argument(help: "The folder that msi backup has written.", completion: .directory)
    var folder: String

    @Flag(help: "Replace the data in MSI_STATE_DIR. It is kept in a folder there, whose name is printed.")
    var replace = false

    @Flag(help: "Restore a backup that belongs to another user, or that others could have changed.")
    var trust = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run() async throws {
        let progress = ProgressLine()
        try await BackupErrors.reported(progress) {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            for warning in settings.warnings { StandardError.write("msi restore: \(warning)\n") }
            let state = try settings.value(.stateDirectory)
            let database = try settings.optional(.databaseURL, as: MongoURL.init)
            if database != nil, replace {
                throw ConfigurationError("--replace is for SQLite files; name an empty database in MSI_DATABASE_URL instead")
            }
            if let change = try StateDirectory.secure(state) { StandardError.write("msi restore: \(change)\n") }
            let control = try StateLock.control(of: state, finishesRestore: true)
            defer { control.release() }
            let data = try StateLock(
                .data, .alone, in: state,
                orElse: "a service is at work with the data in \(state), or msi backup; stop the services first")
            defer { data.release() }
            try await restore(to: state, database, progress)
        }
    }

    private func restore(to state: String, _ database: MongoURL?, _ progress: ProgressLine) async throws {
        let backup = try BackupErrors.absolute(folder)
        if !trust { try BackupTrust.check(folder: backup) }
        let manifest = try BackupManifest.read(in: backup)
        if !trust { try BackupTrust.check(manifest.files.map { backup + "/" + $0.name }) }
        if let unfinished = try ReadyRestore.unfinished(in: state) {
            StandardError.write("msi restore: finishing the restore that was interrupted in \(state)\n")
            let aside = try await unfinished.finish(database, progress: progress)
            progress.clear()
            guard unfinished.plan.manifest != manifest else { return show(unfinished.plan, from: backup, replaced: aside) }
            StandardError.write("msi restore: the interrupted restore of another backup is complete\n")
        }
        if database == nil, !replace,
            let file = try StateFiles(folder: state).replaced.first(where: { $0 != StateFiles.gatewayCopies })
        {
            throw BackupFailure(
                "there is data in \(state) already, such as \(file). With --replace it is kept in another folder there; or set "
                    + "MSI_STATE_DIR to an empty folder")
        }
        let ready = try await ReadyRestore.prepare(
            manifest, of: backup, in: state, to: database == nil ? .sqlite : .mongodb, progress: progress)
        let aside = try await ready.finish(database, progress: progress)
        progress.clear()
        show(ready.plan, from: backup, replaced: aside)
    }

    private struct Report: Encodable {
        let backup: String
        let begun: UnixMilliseconds
        let to: BackupManifest.Database
        /// How many messages and pushes are held.
        let held: Int
        /// The folder with the replaced files; absent if there were none.
        let replaced: String?
        /// Absent for a backup without a log of erasures.
        let erasures: RestoredErasures?
    }

    private func show(_ plan: ReadyRestore.Plan, from backup: String, replaced: String?) {
        let report = Report(
            backup: backup, begun: plan.manifest.begun, to: plan.target, held: plan.held, replaced: replaced,
            erasures: plan.erasures)
        if printsJSON, let json = try? JSONCoder.encode(report) { return print(String(decoding: json, as: UTF8.self)) }
        let time = Date(timeIntervalSince1970: Double(plan.manifest.begun.seconds)).formatted(Date.ISO8601FormatStyle())
        print("restored \(backup), which was begun at \(time)")
        if let replaced { print("the replaced data is in \(replaced); remove that folder when you do not need it any more") }
        if plan.held > 0 {
            print(
                "\(plan.held) messages and pushes are held. After the start: msi outbox list, then msi outbox release or discard")
        }
        plan.erasures?.lines(begun: time).forEach { print($0) }
        print("passwords, tokens and sign-ins are those of the backup again: end again what was ended since (msi account)")
    }
}

/// Who could have written a backup: its accounts and rights become those of the product.
enum BackupTrust {
    /// - Throws: ``BackupFailure`` if the folder of a backup, or its manifest, is not trusted.
    static func check(folder: String) throws(BackupFailure) {
        try check([folder, folder + "/" + BackupManifest.name])
    }

    /// - Throws: ``BackupFailure`` if another user than this one and root owns one of the paths or can write to it. A missing one is
    ///   reported by its reader.
    static func check(_ paths: [String]) throws(BackupFailure) {
        for path in paths {
            guard let problem = FilePermissions.foreignWriter(of: path) else { continue }
            throw BackupFailure(
                "\(path) \(problem), who could have changed the backup, with its accounts and rights. If you know who has written it, "
                    + "restore it with --trust")
        }
    }

    /// A warning about the folder that contains a backup; `nil` if only this user and root can replace the backup there.
    static func warning(aboutPlaceOf target: String) -> String? {
        let end = target.lastIndex(of: "/") ?? target.startIndex
        let parent = end == target.startIndex ? "/" : String(target[..<end])
        let writer = FilePermissions.foreignWriter(of: parent, mayBeSticky: true)
        return writer.map { "\(parent) \($0), who could replace the backup" }
    }
}
