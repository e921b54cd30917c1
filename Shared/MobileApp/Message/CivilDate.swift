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
