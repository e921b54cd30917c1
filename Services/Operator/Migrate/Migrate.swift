import ArgumentParser
import CubeStorage
import FoundationEssentials
import Glibc
import Logging
import MessageStorage
import MongoDatabase
import Schemas
import ServiceKit
import UnreadableDocuments

/// `msi migrate`: moves the data from one kind of database to the other.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the cube and all messages between SQLite and MongoDB.",
        discussion: """
            MSI_DATABASE_URL names the MongoDB database, and MSI_STATE_DIR the folder of the SQLite files. Stop the services \
            first. The copy can be interrupted and run again at any time. It does not change its source. At the end both sides \
            are read and compared, by count and digest. Then start the services with MSI_DATABASE_URL, or without it.
            """)

    enum Target: String, CaseIterable, ExpressibleByArgument {
        case sqlite, mongodb

        /// How to use another target, in words for the operator.
        var another: String {
            switch self {
            case .sqlite: "an empty folder: set MSI_STATE_DIR to another one"
            case .mongodb: "an empty database: give it another name in MSI_DATABASE_URL, after the hosts"
            }
        }
    }

    @Option(help: "The target database. The source is the other one.")
    var to: Target

    func run() async throws {
        do {
            let settings = try await SettingValues(
                arguments: [], environment: ProcessInfo.processInfo.environment, accepted: [])
            for warning in settings.warnings { print("msi migrate: \(warning)") }
            let folder = try settings.value(.stateDirectory)
            if let change = try StateDirectory.secure(folder) { print("msi migrate: \(change)") }
            guard let url = try settings.optional(.databaseURL, as: MongoURL.init) else {
                throw ConfigurationError("\(Setting.databaseURL.declaration.name) has to say where MongoDB is")
            }
            if to == .mongodb { try checkFiles(in: folder) }
            let control = try StateLock.control(of: folder)
            defer { control.release() }
            let data = try StateLock(
                .data, .alone, in: folder,
                orElse: "msi-cube or msi-message-log is at work with the data in \(folder); stop the services first")
            defer { data.release() }
            try await migrate(folder: folder, url: url)
        } catch let error as ConfigurationError {
            print("msi migrate: \(error)")
            throw ExitCode(EX_CONFIG)
        } catch let error
            where error is StartFailure || error is StateLockFailure || error is MigrationFailure || error is CommandFailure
        {
            print("msi migrate: \(error)")
            throw ExitCode.failure
        }
    }

    /// Opening a missing file would create it, and the empty store would be copied.
    private func checkFiles(in folder: String) throws {
        for file in ["cube.sqlite", "message-log.sqlite"] where !FileManager.default.fileExists(atPath: folder + "/" + file) {
            throw StartFailure(description: "there is no \(file) in \(folder); MSI_STATE_DIR says where the services keep theirs")
        }
    }

    private func migrate(folder: String, url: MongoURL) async throws {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        // The limit does not apply to a copy.
        let unlimited = CubeSizeLimit(bytes: .max)
        let cubes = (
            sqlite: try await openCubeStore(
                database: nil, folder: folder, sizeLimit: unlimited, unreadable: .refused, logger: logger),
            mongodb: try await openCubeStore(
                database: url, folder: folder, sizeLimit: unlimited, unreadable: .refused, logger: logger)
        )
        let archives = (
            sqlite: try await openMessageStore(database: nil, folder: folder, unreadable: .refused, logger: logger),
            mongodb: try await openMessageStore(database: url, folder: folder, unreadable: .refused, logger: logger)
        )
        let migration = Migration(
            cubes: to == .mongodb ? (cubes.sqlite, cubes.mongodb) : (cubes.mongodb, cubes.sqlite),
            archives: to == .mongodb ? (archives.sqlite, archives.mongodb) : (archives.mongodb, archives.sqlite),
            otherTarget: to.another
        ) { line in
            print(line)
            fflush(nil)
        }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await migration.run())
        } catch {
            outcome = .failure(error)
        }
        try await cubes.sqlite.close()
        try await cubes.mongodb.close()
        try await archives.sqlite.close()
        try await archives.mongodb.close()
        try outcome.get()
    }
}
