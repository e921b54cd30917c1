import FoundationEssentials
import Logging
import Schemas
import Synchronization

/// Reads a running service's settings again, and takes over the changed ones that it can.
///
/// The environment and the flags of a process cannot change, so new values come from the configuration file and from the files of
/// secrets. A mistake in one of them leaves everything as it was.
final class SettingsReload: Sendable {
    /// The texts of the settings that the service works with.
    private let used: Mutex<[SettingDeclaration: String]>
    /// The contents of the files that the service has read.
    private let files: [SettingDeclaration: Data]
    private let current: Mutex<SettingsStatus>
    private let first: SettingValues
    private let check: ConfigurationCheck
    private let readAgain: @Sendable () async throws -> SettingValues
    private let logger: Logger

    /// - Parameters:
    ///   - values: The settings with which the service was started.
    ///   - time: The time before they were read. A file that has changed since has values that were perhaps not read.
    ///   - readAgain: Reads them from their sources.
    /// - Throws: ``ConfigurationError``.
    init(
        _ values: SettingValues, readAfter time: UnixMilliseconds, check: ConfigurationCheck, logger: Logger,
        readAgain: @escaping @Sendable () async throws -> SettingValues
    ) throws {
        first = values
        current = Mutex(SettingsStatus(read: time))
        used = Mutex(try values.texts(of: check.settings))
        files = try values.files(of: check.settings)
        self.check = check
        self.logger = logger
        self.readAgain = readAgain
    }

    /// What the service works with now.
    var status: SettingsStatus { current.withLock { $0 } }

    /// Reads the settings again. The log names settings that need a restart, and mistakes.
    func run() async -> ReloadReport {
        let time = UnixMilliseconds.now
        do {
            let values = try await readAgain()
            let problems = await check.problems(in: values)
            guard problems.isEmpty else { return refuse(problems) }
            for warning in values.warnings { logger.warning("\(warning)") }
            return try take(values, readAfter: time)
        } catch {
            return refuse(["\(error)"])
        }
    }

    private func refuse(_ problems: [String]) -> ReloadReport {
        for problem in problems {
            say(.error, "the settings have a mistake, and stay as they were", ["error": "\(problem)"])
        }
        current.withLock { $0.mistake = problems.joined(separator: "; ") }
        return ReloadReport(refused: problems)
    }

    /// - Throws: ``ConfigurationError`` before anything has changed.
    private func take(_ values: SettingValues, readAfter time: UnixMilliseconds) throws -> ReloadReport {
        let new = try values.texts(of: check.settings)
        let former = used.withLock { $0 }
        let changed = check.settings.filter { former[$0] != new[$0] }
        // A file with another name is a changed setting already.
        let newFiles = try values.files(of: check.settings)
        let changedFiles = check.settings.filter { files[$0] != newFiles[$0] && !changed.contains($0) }
        let live = changed.filter { !first.liveSettings.readings(of: $0).isEmpty }
        for take in try live.flatMap({ try first.liveSettings.readings(of: $0).map { try $0(values) } }) { take() }
        used.withLock { used in
            for setting in live { used[setting] = new[setting] }
        }
        var report = ReloadReport()
        for setting in changed {
            let change = Self.change(of: setting, from: former, to: new)
            let values = setting.isSecret ? "" : " from \(former[setting] ?? "none") to \(new[setting] ?? "none")"
            if live.contains(setting) {
                say(.notice, "a setting has changed", change)
                report.lines.append("\(setting.name) has changed\(values)")
            } else {
                say(.warning, "a changed setting takes effect only after a restart", change)
                report.lines.append("\(setting.name) takes effect only after a restart: it has changed\(values)")
            }
        }
        for setting in changedFiles {
            say(
                .warning, "a changed file takes effect only after a restart",
                ["setting": "\(setting.name)", "file": "\(new[setting] ?? "")"])
            report.lines.append(
                "\(setting.name) takes effect only after a restart: the file \(new[setting] ?? "") has changed")
        }
        if changed.isEmpty, changedFiles.isEmpty { say(.notice, "the settings were read again: nothing has changed") }
        current.withLock { status in
            status = SettingsStatus(read: time)
            status.needingRestart = (changed.filter { !live.contains($0) } + changedFiles).map(\.name)
        }
        return report
    }

    /// Writes a line whatever the level of the log: it answers an operator's request, and `msi doctor` finds it.
    private func say(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        logger.handler.log(
            event: LogEvent(
                level: level, message: message, metadata: metadata, source: nil, file: #fileID, function: #function, line: #line))
    }

    /// The metadata of a line about a setting. The value of a secret is in no line.
    private static func change(
        of setting: SettingDeclaration, from former: [SettingDeclaration: String], to new: [SettingDeclaration: String]
    ) -> Logger.Metadata {
        guard !setting.isSecret else { return ["setting": "\(setting.name)"] }
        return [
            "setting": "\(setting.name)", "former": "\(former[setting] ?? "none")", "new": "\(new[setting] ?? "none")",
        ]
    }
}
