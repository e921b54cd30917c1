/// The media types that a client accepts (RFC 9110, "Accept").
struct AcceptedTypes: Sendable {
    /// How much a client wants a type: by the quality that it gave, and then by how exactly it named it.
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
