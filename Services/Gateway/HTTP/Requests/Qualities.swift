/// How much a client wants each of some things: a header's list with quality values (RFC 9110, section 12.4.2).
struct Qualities: Sendable {
    /// From 0, not acceptable, to 1, by the things' names in lower case.
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
