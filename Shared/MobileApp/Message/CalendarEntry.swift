/// A message as an event of a calendar app: an `.ics` file (RFC 5545; seed, "Save message to calendar").
public struct CalendarEntry: Sendable {
    private let message: StoredMessage
    private let names: [String]
    private let start: Int64
    private let minutes: Int

    /// What a calendar's file can say: the years 0 to 9999, in Unix milliseconds.
    public static let moments: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
    /// A year.
    private static let maxMinutes = 527_040

    /// - Parameters:
    ///   - names: The path of the message's subject.
    ///   - start: When the event begins, in Unix milliseconds, as the student has chosen; within ``moments``.
    ///   - minutes: How long it takes, at most a year.
    public init(_ message: StoredMessage, names: [String], start: Int64, minutes: Int = 60) {
        self.message = message
        self.names = names
        self.start = min(max(start, Self.moments.lowerBound), Self.moments.upperBound)
        self.minutes = min(max(minutes, 0), Self.maxMinutes)
    }

    /// The file's text.
    ///
    /// - Parameter now: When it is made, in Unix milliseconds.
    public func file(now: Int64) -> String {
        let description = [names.joined(separator: " › "), message.desc, message.message].filter { !$0.isEmpty }
        let lines = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Mobile Student Intranet//EN", "BEGIN:VEVENT",
            // The same message at the same time is the same event, however often it is saved.
            "UID:\(message.msiKey)-\(start)@mobile-student-intranet", "DTSTAMP:\(Self.time(now))", "DTSTART:\(Self.time(start))",
            "DTEND:\(Self.time(start + Int64(minutes) * 60_000))", "SUMMARY:\(Self.escaped(message.title))",
            "DESCRIPTION:\(Self.escaped(description.joined(separator: "\n\n")))", "END:VEVENT", "END:VCALENDAR",
        ]
        return lines.map { Self.folded($0) + "\r\n" }.joined()
    }

    /// A moment in UTC (section 3.3.5), such as `20261124T071500Z`.
    private static func time(_ moment: Int64) -> String {
        let moment = min(max(moment, moments.lowerBound), moments.upperBound)
        let seconds = moment >= 0 ? moment / 1_000 : (moment - 999) / 1_000
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - day * 86_400
        let date = CivilDate(daysSince1970: day)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = String(repeating: "0", count: max(0, 4 - String(date.year).count)) + String(date.year)
        return "\(year)\(two(date.month))\(two(date.day))T\(two(rest / 3_600))\(two(rest / 60 % 60))\(two(rest % 60))Z"
    }

    /// A text value (section 3.3.11).
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", ";", ",": escaped += "\\\(scalar)"
            case "\n": escaped += "\\n"
            // Control characters are not allowed; "\r" comes before "\n".
            case _ where scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F: continue
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A line in pieces of at most 75 bytes, without a cut in a character (section 3.1).
    private static func folded(_ line: String) -> String {
        var folded = ""
        var bytes = 0
        for character in line.unicodeScalars {
            let size = UTF8.width(character)
            if bytes + size > 75 {
                folded += "\r\n "
                bytes = 1
            }
            folded.unicodeScalars.append(character)
            bytes += size
        }
        return folded
    }
}

/// A date of the Gregorian calendar. FoundationEssentials has no calendar of the phone's time zone on every platform, and days since
/// 1970 need none.
struct CivilDate: Hashable, Sendable {
    let year: Int64
    let month: Int64
    let day: Int64

    /// - Parameter daysSince1970: Days since 1970-01-01, which may be negative.
    init(daysSince1970: Int64) {
        // Counted from 0000-03-01, so that the leap day is the last day of a year, in eras of 400 years.
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
