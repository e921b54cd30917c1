import ArgumentParser
import Base
import FoundationEssentials
import Glibc
import Store
import Schemas
import ServiceKit

/// `msi migrate`: moves the data from one kind of database to the other.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies all data of the services between SQLite and MongoDB.",
        discussion: """
            MSI_DATABASE_URL names the MongoDB database, and MSI_STATE_DIR the folder of the SQLite files. Stop the services \
            first. The copy can be interrupted and run again. It does not change its source. At the end both sides are read and \
            compared, by count and digest. Then start the services with MSI_DATABASE_URL, or without it.

            If services have worked with the source since the last copy, that copy may contain documents that the source has \
            removed since, such as sign-ins that have ended. The command then refuses it: copy to an empty place.
            """)

    @Option(help: "The target database. The source is the other one.")
    var to: MovePlaces.Target

    func run() async throws {
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            for warning in settings.warnings { print("msi migrate: \(warning)") }
            let folder = try settings.value(.stateDirectory)
            if let change = try StateDirectory.secure(folder) { print("msi migrate: \(change)") }
            guard let url = try settings.optional(.databaseURL, as: MongoURL.init) else {
                throw ConfigurationError("\(Setting.databaseURL.declaration.name) is required: the MongoDB database")
            }
            if to == .mongodb { try checkFiles(in: folder) }
            let control = try StateLock.control(of: folder)
            defer { control.release() }
            let data = try StateLock(
                .data, .alone, in: folder,
                orElse: "a service is at work with the data in \(folder); stop the services first")
            defer { data.release() }
            try await migrate(MovePlaces(folder: folder, url: url, target: to))
        } catch let error as ConfigurationError {
            print("msi migrate: \(error)")
            throw ExitCode(EX_CONFIG)
        } catch let error
            where error is StartFailure || error is StateLockFailure || error is LostStore || error is MigrationFailure
            || error is CommandFailure
        {
            print("msi migrate: \(error)")
            throw ExitCode.failure
        }
    }

    /// Opening a missing file would create it, and the empty store would be copied.
    private func checkFiles(in folder: String) throws {
        for file in RegisteredStores.all.flatMap(\.requiredFiles)
        where !FileManager.default.fileExists(atPath: folder + "/" + file) {
            throw StartFailure(description: "there is no \(file) in \(folder); MSI_STATE_DIR names the services' folder")
        }
        for file in KnownStores.lost(in: folder) { try KnownStores.requirePresent(file, in: folder) }
    }

    private func migrate(_ places: MovePlaces) async throws {
        var moves: [any StoreMove] = []
        let outcome: Result<Void, any Error>
        do {
            for store in RegisteredStores.all { moves.append(try await store.open(places)) }
            try await Migration(moves: moves) { line in
                print(line)
                fflush(nil)
            }.run()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        for move in moves { try await move.close() }
        try outcome.get()
    }
}

extension MovePlaces.Target: ExpressibleByArgument {}

/// Copies stores from one database to the other.
///
/// It can be interrupted at any time and run again. If a target contains anything but an earlier copy, it is refused before anything
/// is written. At the end both sides are read and compared.
struct Migration {
    let moves: [any StoreMove]
    /// Reports the progress to the operator.
    let report: (String) -> Void

    /// - Throws: ``MigrationFailure`` if a target contains something else, or differs at the end; ``CommandFailure`` if a store
    ///   cannot be used.
    func run() async throws {
        for move in moves { try await move.checkTarget() }
        for move in moves { try await move.copy(report: report) }
        for move in moves {
            for comparison in try await move.compare() { report(try comparison.report) }
        }
    }
}
