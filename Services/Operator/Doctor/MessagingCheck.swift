import Base
import Bus
import Glibc
import Schemas
import ServiceKit

/// Whether the messaging service removes in time what is to be removed, and can note it.
struct MessagingCheck: Sendable {
    let settings: SettingValues
    /// The endpoints of the messaging services that answer.
    let services: [String]

    private static let timeout = Duration.seconds(5)
    /// From this part of the operator's number of calls on there is a warning.
    private static let maxCallPercent = 90

    /// - Returns: None if no messaging service answers, which the check of the sockets reports. That check also names what is
    ///   nearly full.
    /// - Throws: ``ConfigurationError``, or ``BusError`` if there is no bus.
    func findings() async throws -> [Finding] {
        guard let endpoint = services.first else { return [] }
        let name = ServiceEntry.messaging.executable
        do {
            let counts = try await CommandClient.with([endpoint], settings) {
                try await $0.request(CountMessaging(), timeout: Self.timeout)
            }
            var findings = Self.findings(about: counts)
            let folder = try settings.value(.stateDirectory)
            let isOnThisMachine = services.contains { $0.hasPrefix("ipc://") }
            if isOnThisMachine, let finding = Self.finding(aboutLog: "\(folder)/\(MessagingFiles.removed)") {
                findings.append(finding)
            }
            return findings
        } catch let failure as CommandFailure {
            return [
                .failure(.messaging, "\(name) at \(endpoint) does not say what it has: \(failure.message)", "its log says more")
            ]
        }
    }

    static func findings(about counts: CountMessaging.Reply) -> [Finding] {
        var findings: [Finding] = []
        if counts.isLate {
            findings.append(
                .failure(
                    .messaging, "messages, statuses or their traces should have been removed \(counts.overdue.rounded) ago",
                    "look at the log of \(ServiceEntry.messaging.executable), whether its database takes writes, and whether a "
                        + "backup or another program reads it for long"))
        }
        if let percent = counts.callPercent, percent >= maxCallPercent {
            findings.append(
                .warning(
                    .messaging, counts.callSummary,
                    "no call is refused; raise \(Setting<Int>.messagingCalls.declaration.name), or let devices ask less often "
                        + "(\(Setting<Seconds>.messagingPoll.declaration.name))"))
        }
        return findings.isEmpty ? [.ok(.messaging, "\(counts.summary); \(counts.callSummary)")] : findings
    }

    /// Nothing is removed before it is noted, so that a restore removes it again.
    ///
    /// - Returns: `nil` if it can be written, or is not there yet.
    static func finding(aboutLog path: String) -> Finding? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        guard !isFile || access(path, W_OK) != 0 else { return nil }
        return .failure(
            .messaging, "\(path) \(isFile ? "cannot be written" : "is no file"), so no message is removed",
            "make it a file of the services' user with mode 600, on a disk that takes writes")
    }
}
