import Archive
import Logging
import Store
import Schemas
import ServiceKit

/// Whether MongoDB answers and has data that this version knows, if the settings name one.
struct DatabaseCheck: Sendable {
    private let url: MongoURL?

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues) throws {
        url = try settings.optional(.databaseURL, as: MongoURL.init)
    }

    func findings() async throws -> [Finding] {
        guard let url else { return [] }
        var logger = Logger(label: "msi")
        // The finding says it.
        logger.logLevel = .critical
        let database = await MongoDatabase.open(url, application: "msi-doctor", logger: logger)
        var findings: [Finding]
        do {
            let clock = try await database.run { connection in
                try connection.checkTransactions()
                try MongoMessageStore.checkFormat(connection)
                return try BSONFields(connection.read(["hello": 1], in: "admin"))["localTime"]
            }
            findings = [.ok(.database, "MongoDB answers for the database \(database.name), and takes transactions")]
            if let clock, let time = Self.milliseconds(clock) {
                findings.append(Self.finding(time - UnixMilliseconds.now.rawValue))
            }
        } catch let error as MongoError {
            findings = [.failure(.database, "MongoDB: \(error.message)", Self.advice(for: error.code))]
        }
        await database.close()
        return findings
    }

    /// - Parameter ahead: How many milliseconds the server's clock is ahead, with the time of the answer.
    static func finding(_ ahead: Int64) -> Finding {
        let found = "this machine's clock differs from MongoDB's by \(abs(ahead)) ms"
        // Another machine may differ as far in the other direction.
        return .milliseconds(abs(ahead)) <= DeliveryTimes.maxClockDifference / 2
            ? .ok(.clock, found)
            : .failure(.clock, found, "let both machines follow a time server: apt install systemd-timesyncd")
    }

    /// The milliseconds since 1970 of a date.
    private static func milliseconds(_ value: BSONValue) -> Int64? {
        guard case .foreign(.date, let bytes) = value, bytes.count == 8 else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func advice(for code: MongoError.Code) -> String {
        switch code {
        case .notAuthenticated, .notAuthorised: "correct the user and the password of MSI_DATABASE_URL, or the user's roles"
        case .unfinishedRestore:
            "until then no service uses this database. deploy/backup/README.md says how to give a restore up"
        case .unknownFormat: "run the version that has written the data, or a later one"
        case .unsuitable: "use a replica set; OPERATING.md has the requirements"
        case .notReachable, .timedOut, .notPrimary:
            "is the server running, and the name, the port and the network right? With the packages the services need the drop-in network.conf"
        default: "OPERATING.md has the requirements"
        }
    }
}
