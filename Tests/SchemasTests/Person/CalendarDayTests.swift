import Schemas
import Testing

@Suite("Days of the calendar")
struct CalendarDayTests {
    @Test(
        "A day that exists is read and written as it is",
        arguments: ["1900-01-01", "2000-02-29", "2004-02-29", "2023-02-28", "2024-12-31", "2100-12-31", "1999-04-30"])
    func valid(text: String) {
        #expect(CalendarDay(text)?.description == text)
    }

    @Test(
        "Any other text is no day",
        arguments: [
            "", "2004-2-29", "2004-02-30", "1900-02-29", "2100-02-29", "2023-02-29", "2004-00-10", "2004-13-01", "2004-04-31",
            "2004-01-00", "1899-12-31", "2101-01-01", "20040229", "2004-02-29T00:00", " 2004-02-29", "٢٠٠٤-02-29", "-2004-02-29",
        ])
    func invalid(text: String) {
        #expect(CalendarDay(text) == nil)
    }
}
