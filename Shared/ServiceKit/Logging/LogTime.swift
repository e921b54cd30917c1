import Base
import Schemas

extension JSONBytes {
    /// Appends a time as ISO 8601 in UTC with milliseconds, such as `2026-11-21T10:00:00.123Z`. The system's formatter takes as long as
    /// the rest of a log line. Times outside of the years 1970 to 9999 are written as the nearest one within.
    mutating func append(utc time: UnixMilliseconds) {
        let time = min(max(time, 0), maximumUnixMilliseconds).rawValue
        let (days, milliseconds) = time.quotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = Self.date(ofDay: days)
        append(digits: year, count: 4)
        append("-")
        append(digits: month, count: 2)
        append("-")
        append(digits: day, count: 2)
        append("T")
        append(digits: milliseconds / 3_600_000, count: 2)
        append(":")
        append(digits: milliseconds / 60_000 % 60, count: 2)
        append(":")
        append(digits: milliseconds / 1_000 % 60, count: 2)
        append(".")
        append(digits: milliseconds % 1_000, count: 3)
        append("Z")
    }

    /// The date of a day of the Gregorian calendar.
    ///
    /// The years begin in March here, so that a leap day is a year's last day.
    ///
    /// - Parameter days: The days since 1970-01-01; not negative.
    private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From 0000-03-01 to 1970-01-01 there are 719,468 days. 400 years have 146,097.
        let (era, day) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        // Five months from March on have 153 days.
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            year: era * 400 + year + (isNextYear ? 1 : 0), month: isNextYear ? month - 9 : month + 3,
            day: dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    private mutating func append(digits number: Int64, count: Int) {
        append(count: count) { digits in
            var rest = number
            for index in digits.indices.reversed() {
                digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
    }
}
