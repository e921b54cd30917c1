import FoundationEssentials
import Schemas

/// A date in HTTP's form, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate). The two obsolete forms
/// are not supported.
struct HTTPDate: Equatable, Sendable {
    let unixMilliseconds: UnixMilliseconds

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = Self.months.firstIndex(where: { $0 == parts[2] }),
            let day = Int(parts[1]), (1...31).contains(day), let year = Int(parts[3]), (1970...9999).contains(year),
            case let time = parts[4].split(separator: ":"), time.count == 3,
            let hour = Int(time[0]), (0...23).contains(hour), let minute = Int(time[1]), (0...59).contains(minute),
            let second = Int(time[2]), (0...60).contains(second),
            let date = Self.calendar.date(
                from: DateComponents(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second))
        else { return nil }
        unixMilliseconds = date.unixMilliseconds
    }

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }
}
