import Testing

@testable import Gateway

@Suite("The media types that a client accepts")
struct AcceptedTypesTests {
    @Test(
        "A client gets CSV if it prefers it to JSON",
        arguments: [
            ("", false), ("*/*", false), ("text/csv", true), ("TEXT/CSV; charset=utf-8", true), ("text/*", true),
            ("text/csv;q=0", false), ("text/csv; q=0.0, */*", false), ("text/csv, */*", true), ("text/csv, */*;q=0.1", true),
            ("application/json, text/csv;q=0.1", false), ("application/json;q=0.5, text/csv;q=0.9", true),
            ("application/json, text/csv", false), ("text/html,application/xhtml+xml,*/*;q=0.8", false), ("text/csv;q=x", false),
        ])
    func csv(header: String, isCSV: Bool) {
        let accepted = AcceptedTypes(header)
        let csv = accepted.preference(for: "text/csv")
        #expect((csv.quality > 0 && csv > accepted.preference(for: "application/json")) == isCSV)
    }
}
