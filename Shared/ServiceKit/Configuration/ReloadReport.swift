import FoundationEssentials
package import Schemas

/// The outcome of a reload, in sentences that are the same for every service they concern. `msi up` prints them.
package struct ReloadReport: Hashable, Sendable {
    package var lines: [String] = []

    /// The field of a notification to the service manager, once for each line. systemd ignores it (sd_notify(3)).
    private static let field = "X_MSI_RELOAD="
    /// systemd drops a notification of more than 4096 bytes.
    private static let maxBytes = 2_000
    private static let maxLine = 500

    private static let refusal = "the settings stay as they were: "

    init() {}

    /// A reload that has changed nothing, because the settings have a mistake.
    init(refused problems: [String]) {
        lines = problems.map { Self.refusal + $0 }
    }

    /// Whether the settings have a mistake, and the reload has changed nothing.
    package var isRefused: Bool { lines.contains { $0.hasPrefix(Self.refusal) } }

    /// Reads the lines of a notification.
    ///
    /// - Returns: `nil` if it is about something else.
    package init?(notification: [String]) {
        let fields = notification.filter { $0.hasPrefix(Self.field) }
        guard !fields.isEmpty else { return nil }
        lines = fields.map { String($0.dropFirst(Self.field.count)) }.filter { !$0.isEmpty }
    }

    /// The lines of a notification, at least one.
    var notification: String {
        var text = Self.field
        for (index, line) in lines.enumerated() {
            let part = line.prefix(Self.maxLine).filter { !$0.isNewline }
            guard text.utf8.count + part.utf8.count < Self.maxBytes else {
                return text + "\n" + Self.field + "\(lines.count - index) more, see the log"
            }
            text += (index == 0 ? "" : "\n" + Self.field) + part
        }
        return text
    }
}

/// The text with which a service tells its service manager about its settings, and which `systemctl status` shows.
///
/// `ready; settings read at 2026-11-26T08:00:00Z; needs a restart for MSI_GATEWAY_PORT`. A problem of the service is there in
/// place of `ready`.
extension SettingsStatus {
    private static let wellState = "ready"
    private static let start = "; settings read at "
    private static let restart = "; needs a restart for "
    private static let refusal = "; the last reload found a mistake: "
    /// systemd drops a notification of more than 4096 bytes.
    private static let maxTrouble = 500

    /// Reads ``text(after:)``.
    ///
    /// - Returns: `nil` for another text.
    package init?(_ text: String) {
        guard let rest = Self.split(text[...], at: Self.start).1 else { return nil }
        let (beforeMistake, mistake) = Self.split(rest, at: Self.refusal)
        let (time, names) = Self.split(beforeMistake, at: Self.restart)
        guard let date = try? Date(String(time), strategy: .iso8601) else { return nil }
        self.init(
            read: UnixMilliseconds(rawValue: Int64(date.timeIntervalSince1970 * 1_000)),
            needingRestart: names.map { $0.split(separator: ", ").map(String.init) } ?? [], mistake: mistake.map(String.init))
    }

    /// - Parameter trouble: What the service cannot use; `nil` if it is well.
    package func text(after trouble: String? = nil) -> String {
        let time = Date(timeIntervalSince1970: Double(read.seconds)).formatted(.iso8601)
        return (trouble.map { String($0.prefix(Self.maxTrouble)) } ?? Self.wellState) + Self.start + time
            + (needingRestart.isEmpty ? "" : Self.restart + needingRestart.joined(separator: ", "))
            + (mistake.map { Self.refusal + $0 } ?? "")
    }

    private static func split(_ text: Substring, at separator: String) -> (Substring, Substring?) {
        guard let range = text.firstRange(of: separator) else { return (text, nil) }
        return (text[..<range.lowerBound], text[range.upperBound...])
    }
}
