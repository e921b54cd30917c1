package import Schemas
import FoundationEssentials

/// Which settings a running service works with: what it tells its service manager, and `systemctl status` shows.
///
/// `ready; settings read at 2026-11-26T08:00:00Z; needs a restart for MSI_GATEWAY_PORT`. A problem of the service is there in
/// place of `ready`.
package struct SettingsStatus: Hashable, Sendable {
    /// When the settings were read that it works with. A mistake in a file changes nothing.
    package var read: UnixMilliseconds
    /// The names of the settings that have another value by now, which only a restart takes over.
    package var needingRestart: [String] = []
    /// Why the last reload has changed nothing.
    package var mistake: String?

    private static let wellState = "ready"
    private static let start = "; settings read at "
    private static let restart = "; needs a restart for "
    private static let refusal = "; the last reload found a mistake: "
    /// Of the mistake. systemd drops a notification of more than 4096 bytes.
    private static let maxMistake = 500
    private static let maxNames = 20
    private static let maxTrouble = 500

    package init(read: UnixMilliseconds) {
        self.read = read
    }

    /// Reads ``text(after:)``.
    ///
    /// - Returns: `nil` for another text, such as that of an earlier version.
    package init?(_ text: String) {
        guard let rest = Self.split(text[...], at: Self.start).1 else { return nil }
        let (beforeMistake, mistake) = Self.split(rest, at: Self.refusal)
        let (time, names) = Self.split(beforeMistake, at: Self.restart)
        guard let date = try? Date(String(time), strategy: .iso8601) else { return nil }
        read = UnixMilliseconds(rawValue: Int64(date.timeIntervalSince1970 * 1_000))
        needingRestart = names.map { $0.split(separator: ", ").map(String.init) } ?? []
        self.mistake = mistake.map(String.init)
    }

    /// - Parameter trouble: What the service cannot use; `nil` if it is well.
    package func text(after trouble: String? = nil) -> String {
        let time = Date(timeIntervalSince1970: Double(read.seconds)).formatted(.iso8601)
        let names = needingRestart.prefix(Self.maxNames).joined(separator: ", ")
        return (trouble.map { String($0.prefix(Self.maxTrouble)) } ?? Self.wellState) + Self.start + time
            + (names.isEmpty ? "" : Self.restart + names)
            + (mistake.map { Self.refusal + $0.prefix(Self.maxMistake).filter { !$0.isNewline } } ?? "")
    }

    private static func split(_ text: Substring, at separator: String) -> (Substring, Substring?) {
        guard let range = text.firstRange(of: separator) else { return (text, nil) }
        return (text[..<range.lowerBound], text[range.upperBound...])
    }
}
