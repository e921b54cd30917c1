import Base

/// The reply to `bus.health` of a service that can do its work, with its version and the state of its dependencies:
/// `{"version":"1.2.0","parts":{"fcm":{"status":"unavailable","message":"…"}}}`. A service whose store takes no writes also replies so,
/// with the part ``store``.
package struct ServiceHealth: Codable, Hashable, Sendable {
    /// The service's version. `nil` if it reports none.
    package var version: String?
    /// What it says about its process. `nil` if it says nothing, or in a form that this version cannot read.
    package var report: ServiceReport?
    /// The service's dependencies by name. Empty for a service without dependencies.
    package var parts: [String: PartHealth] { reported ?? [:] }
    /// Left out of the document if there are none.
    private let reported: [String: PartHealth]?

    package init(version: String? = nil, parts: [String: PartHealth] = [:], report: ServiceReport? = nil) {
        self.version = version
        self.report = report
        reported = parts.isEmpty ? nil : parts
    }

    /// A report of another form, such as that of another version, is left out: the rest counts.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        version = try fields.decodeIfPresent(String.self, forKey: .version)
        reported = try fields.decodeIfPresent([String: PartHealth].self, forKey: .reported)
        report = try? fields.decodeIfPresent(ServiceReport.self, forKey: .report)
    }

    /// The part that is there while the service's store takes no new documents. Then the service cannot do its work.
    package static let store = "store"
    /// The part that is there while nine tenths of the room for new documents are used.
    package static let storage = "storage"

    /// Whether every part can do its work.
    package var isWell: Bool { parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: String, CodingKey {
        case version, report
        case reported = "parts"
    }
}

/// The state of one dependency of a service.
package struct PartHealth: Codable, Hashable, Sendable {
    package var status: ReplyStatus
    /// One sentence for the operator. Required unless the status is `ok`.
    package var message: String?
    /// The version of a part that is a service, if it reports one.
    package var version: String?
    /// The dependencies of the part itself, by name; empty without a report.
    package var parts: [String: PartHealth] { reported ?? [:] }
    /// Left out of the document if there are none.
    private let reported: [String: PartHealth]?

    /// A part that can do its work.
    package static let ok = PartHealth(.ok)

    package init(
        _ status: ReplyStatus, _ message: String? = nil, version: String? = nil, parts: [String: PartHealth] = [:]
    ) {
        self.status = status
        self.message = message
        self.version = version
        reported = parts.isEmpty ? nil : parts
    }

    /// Whether the part and all of its dependencies can do their work.
    package var isWell: Bool { status == .ok && parts.values.allSatisfy(\.isWell) }

    private enum CodingKeys: String, CodingKey {
        case status, message, version
        case reported = "parts"
    }
}

extension PartHealth {
    /// A service that has replied, as another one sees it: it can do its work unless its store takes no writes.
    package init(_ service: ServiceHealth) {
        let store = service.parts[ServiceHealth.store] ?? .ok
        self.init(store.status, store.message, version: service.version, parts: service.parts)
    }
}

/// What a service says about its own process, for the operator: a part of the reply to `bus.health`.
///
/// It goes to peers of the bus alone: ``PartHealth`` of a service leaves it out, so no answer of the gateway has it. No value of a setting
/// is in it. Every text and list is cut, so that it has at most about 10 KiB.
package struct ServiceReport: Codable, Hashable, Sendable {
    /// The last error in the service's log.
    package struct LoggedError: Codable, Hashable, Sendable {
        package let time: UnixMilliseconds
        /// One line.
        package let message: String

        package init(time: UnixMilliseconds, message: String) {
            self.time = time
            self.message = ServiceReport.line(message)
        }
    }

    /// The process's id on its machine.
    package let process: Int32
    package let settings: SettingsStatus
    /// The names in the configuration file that have no effect, because a flag or the environment gives another value.
    package let overridden: [String]
    /// Sentences about what does not keep the service from working, such as a file that other users can read.
    package let warnings: [String]
    /// `nil` if there has been no error since the start.
    package let lastError: LoggedError?

    private static let maxLength = 300
    private static let maxCount = 10

    package init(
        process: Int32, settings: SettingsStatus, overridden: [String], warnings: [String], lastError: LoggedError?
    ) {
        self.process = process
        self.settings = settings
        self.overridden = Array(overridden.prefix(SettingsStatus.maxNames))
        self.warnings = warnings.prefix(Self.maxCount).map(Self.line)
        self.lastError = lastError
    }

    private static func line(_ text: String) -> String { String(text.prefix(maxLength).filter { !$0.isNewline }) }

    private enum CodingKeys: String, CodingKey {
        case process, settings, overridden, warnings
        case lastError = "last_error"
    }
}

/// Which settings a running service works with.
package struct SettingsStatus: Codable, Hashable, Sendable {
    /// When the settings were read that it works with. A mistake in a file changes nothing.
    package let read: UnixMilliseconds
    /// The names of the settings that have another value by now, which only a restart takes over.
    package let needingRestart: [String]
    /// Why the last reload has changed nothing.
    package let mistake: String?

    package static let maxNames = 20
    private static let maxMistake = 500

    package init(read: UnixMilliseconds, needingRestart: [String] = [], mistake: String? = nil) {
        self.read = read
        self.needingRestart = Array(needingRestart.prefix(Self.maxNames))
        self.mistake = mistake.map { String($0.prefix(Self.maxMistake).filter { !$0.isNewline }) }
    }

    private enum CodingKeys: String, CodingKey {
        case read, mistake
        case needingRestart = "needs_restart"
    }
}

/// `bus.health`: every service answers it. If other commands would fail now, it fails the same way: with `unavailable` while the
/// database is unreachable.
package struct CheckHealth: Command {
    package static let name = "bus.health"
    package typealias Reply = ServiceHealth

    package init() {}
}

/// A store whose state is part of the health of its service.
package protocol CheckedStore: Sendable {
    /// Reads a small value. Throws if the database cannot be read.
    func check() async throws

    /// Whether new documents can be stored: by the outcome of the last writes, or of a small test write. `deadline_exceeded`, with the
    /// name of the file and since when, if a write does not end. It answers within about a second, even if the disk is frozen.
    func writeHealth() async -> PartHealth

    /// `storage_full` if nine tenths of the disk are used; the message says how much is left. `ok` if that is not known here.
    var storageHealth: PartHealth { get }
}

extension CheckedStore {
    package var storageHealth: PartHealth { .ok }

    /// The parts ``ServiceHealth/store`` and ``ServiceHealth/storage``, each if there is something to say. The store is not read if its
    /// writes do not end, since then a read may not end either.
    ///
    /// - Throws: If the database cannot be read.
    package func parts() async throws -> [String: PartHealth] {
        let writes = await writeHealth()
        if writes.status != .deadlineExceeded { try await check() }
        return [ServiceHealth.store: writes, ServiceHealth.storage: storageHealth].filter { $0.value != .ok }
    }

    /// The state of a store without which the service can do most of its work, as a part of the service. It answers within about a
    /// second.
    package func health() async -> PartHealth {
        let task = Task {
            do {
                let parts = try await parts()
                let store = parts[ServiceHealth.store] ?? .ok
                return PartHealth(store.status, store.message, parts: parts)
            } catch {
                let failure = error as? CommandFailure
                return PartHealth(failure?.status ?? .unavailable, failure?.message ?? "\(error)")
            }
        }
        guard await task.finishes(by: .now + .seconds(1)) else { return PartHealth(.deadlineExceeded, "it does not answer") }
        return await task.value
    }
}
