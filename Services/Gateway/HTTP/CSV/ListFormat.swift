import Hummingbird
import JSON

/// The form in which a list is answered: a page as JSON, or everything as a CSV file.
enum ListFormat: String, ClosedEnum {
    case json, csv

    /// The form for a request.
    ///
    /// - Parameter format: The query's parameter. Without it the header `Accept` decides.
    init(_ format: ListFormat?, for request: Request) {
        if let format {
            self = format
            return
        }
        let accepted = AcceptedTypes(request.headers[.accept] ?? "")
        let csv = accepted.preference(for: "text/csv")
        self = csv.quality > 0 && csv > accepted.preference(for: "application/json") ? .csv : .json
    }
}
