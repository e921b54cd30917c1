import Hummingbird
import Base

/// The media types that a client accepts (RFC 9110, "Accept").
struct AcceptedTypes: Sendable {
    /// A client's preference for a type, ordered by quality, then by how exactly the client named the type.
    struct Preference: Comparable, Sendable {
        /// From 0, not acceptable, to 1.
        let quality: Double
        /// 0 for `*/*`, 1 for `text/*`, 2 for the type itself.
        let exactness: Int

        static func < (one: Preference, other: Preference) -> Bool {
            (one.quality, one.exactness) < (other.quality, other.exactness)
        }
    }

    private let ranges: [String: Double]

    /// - Parameter header: What cannot be read is ignored.
    init(_ header: String) {
        ranges = Qualities(header).values
    }

    /// The preference for a type, by the most exact range that has it.
    func preference(for type: String) -> Preference {
        let main = type.prefix { $0 != "/" }
        for (exactness, range) in [(2, type), (1, "\(main)/*"), (0, "*/*")] {
            if let quality = ranges[range] { return Preference(quality: quality, exactness: exactness) }
        }
        return Preference(quality: 0, exactness: 0)
    }
}

/// The content codings that a client accepts: its `Accept-Encoding` (RFC 9110, section 12.5.3).
struct AcceptedEncodings: Sendable {
    private let qualities: [String: Double]

    /// - Parameter header: An empty header accepts no coding.
    init(_ header: String) {
        qualities = Qualities(header).values
    }

    /// Whether the client accepts a coding.
    func accepts(_ coding: String) -> Bool {
        (qualities[coding] ?? qualities["*"] ?? 0) > 0
    }

    /// Whether a header accepts gzip.
    static func acceptGzip(_ header: String) -> Bool {
        // Most clients name it without a quality, which needs no table.
        let isPlain = !header.utf8.contains(UInt8(ascii: ";"))
        if isPlain, header == "gzip" || header.utf8.starts(with: "gzip,".utf8) || header.hasBytes(of: ", gzip,") { return true }
        return AcceptedEncodings(header).accepts("gzip")
    }
}

/// A header's list with quality values (RFC 9110, section 12.4.2).
struct Qualities: Sendable {
    /// The qualities, from 0 (not acceptable) to 1, by the elements' names in lower case.
    let values: [String: Double]

    /// - Parameter header: What cannot be read is ignored.
    init(_ header: String) {
        var values: [String: Double] = [:]
        for item in header.split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let name = parts.first, !name.isEmpty else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            values[name] = min(1, max(0, quality))
        }
        self.values = values
    }
}

extension RouteCall {
    /// Whether the client wants a page rather than JSON, as a browser does that follows a link.
    var prefersPage: Bool {
        let accepted = AcceptedTypes(request.headers[.accept] ?? "")
        return accepted.preference(for: "text/html") > accepted.preference(for: "application/json")
    }
}

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
