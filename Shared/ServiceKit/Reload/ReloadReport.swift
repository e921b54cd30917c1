/// What a reload has come to, in sentences that are equal for all services that it concerns. `msi up` prints them.
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
