import FoundationEssentials
import Glibc
import Base
import Logging
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// What a running service takes over from its configuration file.
@Suite("Settings that are read again")
struct SettingsReloadTests {
    private static let settings =
        SettingDeclaration.common + SettingDeclaration.database
        + [
            Setting.messageRetention.declaration, Setting.gatewayPort.declaration, Setting.messageTTL.declaration,
            Setting.fcmServiceAccountFile.declaration,
        ]

    /// A service with a configuration file.
    private struct Service {
        let file: String
        let log = RecordedLog()
        let values: SettingValues
        let reload: SettingsReload

        init(
            in folder: String, _ text: String, environment: [String: String] = [:], level: Logger.Level = .trace
        ) async throws {
            let file = folder + "/msi.env"
            self.file = file
            try Data(text.utf8).write(to: URL(filePath: file))
            let read = { @Sendable in
                try await SettingValues(
                    arguments: [], environment: environment.merging(["MSI_CONFIG_FILE": file]) { $1 },
                    accepted: SettingsReloadTests.settings)
            }
            let time = UnixMilliseconds.now
            values = try await read()
            let check = ConfigurationCheck(name: "test", settings: SettingsReloadTests.settings) { wiring in
                if try wiring.settings.value(.messageRetention) == 13 { throw ConfigurationError("thirteen days bring bad luck") }
                return []
            }
            var logger = log.logger
            logger.logLevel = level
            reload = try SettingsReload(
                values, readAfter: time, privateFiles: [folder + "/nothing", folder + "/state"], check: check, logger: logger,
                readAgain: read)
        }

        /// Changes the file, and reads the settings again.
        ///
        /// - Returns: The new lines of the log.
        func change(_ text: String) async throws -> [String] {
            let known = log.lines.count
            try Data(text.utf8).write(to: URL(filePath: file))
            _ = await reload.run()
            return log.lines.dropFirst(known).map(\.text)
        }
    }

    @Test("A setting that a service follows changes at once, and its old and new value are in the log")
    func live() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n")
            let days = try service.values.live(.messageRetention)
            let ttl = try service.values.live(.messageTTL)
            #expect(days.value == 5)
            let lines = try await service.change("MSI_MESSAGE_RETENTION=6\n")
            #expect(days.value == 6 && ttl.value == 2_419_200)
            #expect(lines.count == 1 && lines[0].contains("has changed"), "\(lines)")
            for part in ["MSI_MESSAGE_RETENTION", "5", "6"] { #expect(lines[0].contains(part)) }
            // Without a value it has its default again.
            _ = try await service.change("")
            #expect(days.value == 0)
            #expect(try await service.change("")[0].contains("nothing has changed"))
        }
    }

    @Test("A setting that needs a restart is named with both values, even at the next reload, until it is as it was")
    func needsRestart() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_GATEWAY_PORT=8001\n")
            for port in [8002, 8002, 8003] {
                let lines = try await service.change("MSI_GATEWAY_PORT=\(port)\n")
                #expect(lines.count == 1 && lines[0].contains("after a restart") && lines[0].contains("MSI_GATEWAY_PORT"))
                #expect(lines[0].contains("8001") && lines[0].contains("\(port)"), "\(lines)")
            }
            #expect(try await service.change("MSI_GATEWAY_PORT=8001\n")[0].contains("nothing has changed"))
        }
    }

    @Test("The lines of a reload are in the log whatever its level")
    func levels() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n", level: .critical)
            let days = try service.values.live(.messageRetention)
            for (text, line) in [
                ("MSI_MESSAGE_RETENTION=6\n", "a setting has changed"), ("MSI_MESSAGE_RETENTION=6\n", "nothing has changed"),
                ("MSI_MESSAGE_RETENTION=-1\n", "stay as they were"),
            ] {
                let lines = try await service.change(text)
                #expect(lines.count == 1 && lines[0].contains(line), "\(lines)")
            }
            #expect(days.value == 6)
        }
    }

    @Test("A process that does not follow a setting needs a restart for it, whatever the declaration says")
    func notFollowed() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n")
            #expect(try await service.change("MSI_MESSAGE_RETENTION=6\n")[0].contains("after a restart"))
        }
    }

    @Test("The value of a secret is in no line, even if it comes from a file")
    func secrets() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_DATABASE_URL=mongodb://ann:s3cret@localhost/campus\n")
            let lines = try await service.change("MSI_DATABASE_URL=mongodb://ann:n3wsecret@localhost/campus\n")
            #expect(lines.contains { $0.contains("after a restart") && $0.contains("MSI_DATABASE_URL") })
            #expect(!lines.contains { $0.contains("s3cret") || $0.contains("n3wsecret") }, "\(lines)")
            let secret = folder + "/secret"
            try Data("mongodb://ann:third@localhost/campus\n".utf8).write(to: URL(filePath: secret))
            let more = try await service.change("MSI_DATABASE_URL_FILE=\(secret)\n")
            #expect(more.contains { $0.contains("MSI_DATABASE_URL_FILE") } && !more.contains { $0.contains("third") }, "\(more)")
        }
    }

    @Test(
        "A mistake leaves every setting as it was, and the log says what is wrong",
        arguments: [
            ("MSI_MESSAGE_RETENTION=6\nMSI_GATEWAY_PORT=eighty\n", "MSI_GATEWAY_PORT"),
            ("MSI_MESSAGE_RETENTION=6\nMSI_GATEWAY_PROT=1\n", "MSI_GATEWAY_PROT"),
            ("MSI_MESSAGE_RETENTION=6\nno setting\n", "line 2"), ("MSI_MESSAGE_RETENTION=-1\n", "MSI_MESSAGE_RETENTION"),
            ("MSI_MESSAGE_RETENTION=13\n", "bad luck"), ("MSI_MESSAGE_RETENTION=6\nMSI_DATABASE_URL_FILE=/nowhere\n", "/nowhere"),
        ])
    func mistake(text: String, problem: String) async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n")
            let days = try service.values.live(.messageRetention)
            let lines = try await service.change(text)
            #expect(days.value == 5)
            #expect(lines.count == 1 && lines[0].contains("stay as they were") && lines[0].contains(problem), "\(lines)")
            // Once it is corrected, it counts.
            _ = try await service.change("MSI_MESSAGE_RETENTION=7\n")
            #expect(days.value == 7)
        }
    }

    @Test("A changed file that a service has read at its start needs a restart, and its content is in no line")
    func changedFile() async throws {
        try await withTemporaryFolder { folder in
            let key = folder + "/key.json"
            try Data("first".utf8).write(to: URL(filePath: key))
            let service = try await Service(in: folder, "MSI_FCM_SERVICE_ACCOUNT_FILE=\(key)\n")
            #expect(try await service.change("MSI_FCM_SERVICE_ACCOUNT_FILE=\(key)\n")[0].contains("nothing has changed"))
            try Data("s3cond".utf8).write(to: URL(filePath: key))
            let lines = try await service.change("MSI_FCM_SERVICE_ACCOUNT_FILE=\(key)\n")
            #expect(lines.count == 1 && lines[0].contains("after a restart") && lines[0].contains(key), "\(lines)")
            #expect(!lines[0].contains("s3cond"))
        }
    }

    @Test("What has changed while the settings were read may not have been read")
    func readTime() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n")
            let checked = Mutex<UnixMilliseconds?>(nil)
            let check = ConfigurationCheck(name: "test", settings: Self.settings) { _ in
                let time = UnixMilliseconds.now
                checked.withLock { $0 = time }
                try await eventually { UnixMilliseconds.now > time }
                return []
            }
            let reload = try SettingsReload(
                service.values, readAfter: 1_000, privateFiles: [], check: check, logger: quietLogger,
                readAgain: { service.values })
            #expect(reload.status.read == 1_000)
            _ = await reload.run()
            let last = checked.withLock(\.self)
            let time = try #require(last)
            #expect(reload.status.read > 1_000 && reload.status.read <= time)
        }
    }

    @Test("A file that is gone is a mistake")
    func noFile() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(in: folder, "MSI_MESSAGE_RETENTION=5\n")
            let days = try service.values.live(.messageRetention)
            try FileManager.default.removeItem(atPath: service.file)
            _ = await service.reload.run()
            #expect(days.value == 5 && service.log.lines.last?.text.contains("stay as they were") == true)
        }
    }

    @Test("The environment overrides the file at a reload, too")
    func environment() async throws {
        try await withTemporaryFolder { folder in
            let service = try await Service(
                in: folder, "MSI_MESSAGE_RETENTION=5\n", environment: ["MSI_MESSAGE_RETENTION": "1"])
            let days = try service.values.live(.messageRetention)
            #expect(try await service.change("MSI_MESSAGE_RETENTION=6\n")[0].contains("nothing has changed"))
            #expect(days.value == 1)
        }
    }

    @Test("The help and the declaration say which settings a reload changes")
    func declared() {
        let live = SettingDeclaration.all.filter(\.isLive).map(\.name)
        #expect(live.contains("MSI_LOG_LEVEL") && !live.contains("MSI_STATE_DIR"))
        let help = SettingHelp(program: "msi-cube", summary: "s", settings: SettingDeclaration.common).description
        let lines = help.split(separator: "\n").filter { $0.contains("A reload changes it.") }
        #expect(lines.count == SettingDeclaration.common.count { $0.isLive } && lines.count > 0)
    }

    @Test("All loggers of a process follow its level, and one that is quieter stays quieter")
    func logLevel() {
        let level = LogLevel(.info)
        let logger = Logger.service("test", format: .json, level: level)
        var quiet = logger
        quiet.logLevel = .warning
        #expect(logger.logLevel == .info && quiet.logLevel == .warning)
        level.value = .trace
        #expect(logger.logLevel == .trace && quiet.logLevel == .warning)
        level.value = .critical
        #expect(logger.logLevel == .critical && quiet.logLevel == .critical)
    }

    @Test("A service reports open files, names without effect and what waits for a restart, and no value of a setting")
    func report() async throws {
        try await withTemporaryFolder { folder in
            let secret = folder + "/url"
            try Data("mongodb://hub:hunter2@db/campus".utf8).write(to: URL(filePath: secret))
            chmod(secret, 0o640)
            let service = try await Service(
                in: folder, "MSI_LOG_LEVEL=info\nMSI_MESSAGE_RETENTION=30\n",
                environment: ["MSI_LOG_LEVEL": "debug", "MSI_DATABASE_URL_FILE": secret])
            _ = try await service.change("MSI_LOG_LEVEL=info\nMSI_MESSAGE_RETENTION=30\nMSI_GATEWAY_PORT=8090\n")
            _ = try await service.change("MSI_LOG_LEVEL=info\nMSI_MESSAGE_RETENTION=13\n")
            let report = service.reload.report
            #expect(report.process == getpid() && report.overridden == ["MSI_LOG_LEVEL"])
            #expect(report.settings.needingRestart == ["MSI_GATEWAY_PORT"])
            #expect(report.settings.mistake == "thirteen days bring bad luck")
            #expect(report.warnings.count == 1 && report.warnings[0].hasPrefix("\(secret) contains secrets, and its mode 640"))
            let text = String(decoding: try JSONCoder.encode(report), as: UTF8.self)
            #expect(!text.contains("hunter2"), "\(text)")
        }
    }

    @Test("The modes of files in the report are those of the last reading, so no request waits for the disk")
    func modes() async throws {
        try await withTemporaryFolder { folder in
            let state = folder + "/state"
            mkdir(state, 0o755)
            let service = try await Service(in: folder, "")
            #expect(service.reload.report.warnings.map { $0.hasPrefix("\(state) contains secrets, and its mode 755") } == [true])
            chmod(state, 0o700)
            #expect(service.reload.report.warnings.count == 1)
            _ = try await service.change("")
            try await eventually { service.reload.report.warnings.isEmpty }
        }
    }
}
