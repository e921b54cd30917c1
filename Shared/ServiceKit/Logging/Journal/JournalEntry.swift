import FoundationEssentials
import Logging

/// One entry in the journal's native form: a field a line, `NAME=value`. A value with a line break follows its name's line with
/// its length (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    /// Foreign text must not fill the journal.
    private static let maxValueLength = 4_000
    /// journald drops fields with longer names.
    private static let maxNameLength = 64

    init(_ entry: LogEntry) {
        // The text of `journalctl` without other options, which shows no fields.
        add("MESSAGE", TextLogLine.body(message: entry.message, fields: entry.fields))
        add("PRIORITY", String(entry.level.priority))
        add("SYSLOG_IDENTIFIER", entry.service)
        add("CODE_FILE", entry.file)
        add("CODE_LINE", String(entry.line))
        add("CODE_FUNC", entry.function)
        for (key, value) in entry.fields { add(Self.name(of: key), value) }
    }

    /// The name of a key's field: `MSI_TRACE_ID` for `trace_id`, `MSI_KEY` for `msi_key`.
    static func name(of key: String) -> String {
        let name = key.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 0x20
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let text = String(decoding: name, as: UTF8.self)
        return String((text.hasPrefix("MSI_") ? text : "MSI_" + text).prefix(maxNameLength))
    }

    private mutating func add(_ name: String, _ value: String) {
        let isShort = value.utf8.count <= Self.maxValueLength
        let value = isShort ? value : String(value.unicodeScalars.prefix(Self.maxValueLength)) + "…"
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
