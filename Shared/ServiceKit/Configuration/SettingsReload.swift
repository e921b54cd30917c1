import Base
import FoundationEssentials
import Glibc
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
    /// The files and folders that only this user may read.
    private let privateFiles: [String]
    /// Files that others can read, as of the last reading of the settings. The disk may hang, so no request waits for it.
    private let modeWarnings: Mutex<[String]>
    private let disk = BlockingThreads(maxThreads: 1, maxWaiting: 1)
    private let first: SettingValues
    /// The settings that were last read without a mistake.
    private let latest: Mutex<SettingValues>
    private let check: ConfigurationCheck
    private let readAgain: @Sendable () async throws -> SettingValues
    private let logger: Logger

    /// - Parameters:
    ///   - values: The settings with which the service was started.
    ///   - time: The time before they were read. A file that has changed since has values that were perhaps not read.
    ///   - privateFiles: The files and folders that only this user may read, besides those that the settings name.
    ///   - readAgain: Reads them from their sources.
    /// - Throws: ``ConfigurationError``.
    init(
        _ values: SettingValues, readAfter time: UnixMilliseconds, privateFiles: [String], check: ConfigurationCheck,
        logger: Logger, readAgain: @escaping @Sendable () async throws -> SettingValues
    ) throws {
        first = values
        latest = Mutex(values)
        current = Mutex(SettingsStatus(read: time))
        used = Mutex(try values.texts(of: check.settings))
        files = try values.files(of: check.settings)
        self.privateFiles = privateFiles
        modeWarnings = Mutex(Self.modeWarnings(privateFiles, values))
        self.check = check
        self.logger = logger
        self.readAgain = readAgain
    }

    /// What the service works with now.
    var status: SettingsStatus { current.withLock { $0 } }

    /// What the service says about itself on the bus.
    var report: ServiceReport {
        let values = latest.withLock(\.self)
        let modes = modeWarnings.withLock(\.self)
        return ServiceReport(
            process: getpid(), settings: status, overridden: values.overriddenInFile,
            warnings: modes + values.warnings.filter { !modes.contains($0) },
            lastError: ServiceLogHandler.lastError.withLock(\.self))
    }

    private static func modeWarnings(_ files: [String], _ values: SettingValues) -> [String] {
        (files + values.secretFiles.map(\.path)).compactMap { FilePermissions.warning(about: $0) }
    }

    /// Starts a check of the files' modes, without waiting for the disk. While the disk hangs, the report contains the previous result.
    private func lookAtModes(_ values: SettingValues) {
        _ = disk.submit { [self] in
            let warnings = Self.modeWarnings(privateFiles, values)
            modeWarnings.withLock { $0 = warnings }
        }
    }

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
        current.withLock {
            $0 = SettingsStatus(read: $0.read, needingRestart: $0.needingRestart, mistake: problems.joined(separator: "; "))
        }
        return ReloadReport(refused: problems)
    }

    /// - Throws: ``ConfigurationError`` before anything has changed.
    private func take(_ values: SettingValues, readAfter time: UnixMilliseconds) throws -> ReloadReport {
        let new = try values.texts(of: check.settings)
        let old = used.withLock { $0 }
        let changed = check.settings.filter { old[$0] != new[$0] }
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
            let change = Self.change(of: setting, from: old, to: new)
            let values = setting.isSecret ? "" : " from \(old[setting] ?? "none") to \(new[setting] ?? "none")"
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
        let names = (changed.filter { !live.contains($0) } + changedFiles).map(\.name)
        current.withLock { $0 = SettingsStatus(read: time, needingRestart: names) }
        latest.withLock { $0 = values }
        lookAtModes(values)
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
        of setting: SettingDeclaration, from old: [SettingDeclaration: String], to new: [SettingDeclaration: String]
    ) -> Logger.Metadata {
        guard !setting.isSecret else { return ["setting": "\(setting.name)"] }
        return [
            "setting": "\(setting.name)", "former": "\(old[setting] ?? "none")", "new": "\(new[setting] ?? "none")",
        ]
    }
}

/// The value of a setting that changes when the settings are read again.
package final class LiveSetting<Value: Sendable>: Sendable {
    private let current: Mutex<Value>

    /// - Parameter value: The value until it changes.
    package init(_ value: Value) {
        current = Mutex(value)
    }

    package internal(set) var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// The settings whose new values a process can take over while it runs.
final class LiveSettings: Sendable {
    /// Reads a setting's new value, and returns how to take it over.
    typealias Reading = @Sendable (SettingValues) throws -> @Sendable () -> Void

    private let readings = Mutex<[SettingDeclaration: [Reading]]>([:])

    /// - Parameter read: Called for each reload that changes the setting.
    func add(_ declaration: SettingDeclaration, read: @escaping Reading) {
        precondition(declaration.isLive, "\(declaration.name) is not declared as one that changes while a service runs")
        readings.withLock { $0[declaration, default: []].append(read) }
    }

    /// How to read a setting's new value; empty if this process keeps the value of its start.
    func readings(of declaration: SettingDeclaration) -> [Reading] {
        readings.withLock { $0[declaration] ?? [] }
    }
}

extension SettingValues {
    /// Reads one setting or its default, now and at each reload.
    ///
    /// - Throws: As ``value(_:)``.
    package func live<Value>(_ setting: Setting<Value>) throws -> LiveSetting<Value> {
        let live = LiveSetting(try value(setting))
        liveSettings.add(setting.declaration) { values in
            let new = try values.value(setting)
            return { live.value = new }
        }
        return live
    }

    /// Reads one setting, which may have no value, now and at each reload.
    ///
    /// - Throws: As ``optional(_:)``.
    package func liveOptional<Value>(_ setting: Setting<Value>) throws -> LiveSetting<Value?> {
        let live = LiveSetting(try optional(setting))
        liveSettings.add(setting.declaration) { values in
            let new = try values.optional(setting)
            return { live.value = new }
        }
        return live
    }
}
