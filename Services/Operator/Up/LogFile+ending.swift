extension LogFile {
    private static let maxLines = 200
    private static let maxLength = 500

    /// What the log says about the end of the process: its last error or what it has written in another form, such as the text of a
    /// crash or of an invalid setting; otherwise its last warning, otherwise its last line.
    ///
    /// A process that a signal has ended could log nothing more: only what the runtime or a library has written about the crash counts.
    ///
    /// - Parameters:
    ///   - size: The size of the file when the process was started.
    ///   - bySignal: Whether a signal has ended the process.
    /// - Returns: One line; `nil` if the process has logged nothing about its end.
    func ending(after size: Int64, bySignal: Bool) -> String? {
        var (warning, last): (String?, String?)
        for line in tail(Self.maxLines, after: size).reversed() {
            guard let record = LogRecord(line: line) else { return shown(line) }
            if bySignal { continue }
            if ["critical", "error"].contains(record.level) { return shown(record.text) }
            if record.level == "warning", warning == nil { warning = record.text }
            if last == nil { last = record.text }
        }
        return (warning ?? last).map(shown)
    }

    /// The last lines after a position in the file, as a person reads them.
    func readableTail(_ count: Int, after size: Int64) -> [String] {
        tail(count, after: size).map { line in shown(LogRecord(line: line).map { "\($0.level): \($0.text)" } ?? line) }
    }

    private func shown(_ text: String) -> String {
        let prefix = "\(name): "
        return (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text).onOneLine(maxLength: Self.maxLength)
    }
}
