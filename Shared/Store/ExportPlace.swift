package import Schemas

/// A part of a person's export, such as a collection. Parts of one file follow each other.
package protocol ExportPart: RawRepresentable<String>, CaseIterable, Equatable, Sendable {}

/// Where a page of a person's export begins: its part, and the cursor of the page before.
package struct ExportPlace<Part: ExportPart>: Sendable {
    package let part: Part
    package let cursor: Cursor?

    private init(_ part: Part, _ cursor: Cursor?) {
        self.part = part
        self.cursor = cursor
    }

    /// - Parameters:
    ///   - text: The ``text`` that the page before has named; `nil` for the first page.
    ///   - first: The first part.
    /// - Throws: ``CommandFailure`` with `invalid` for another text.
    package init(_ text: String?, first: Part) throws(CommandFailure) {
        guard let text else {
            self.init(first, nil)
            return
        }
        let words = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let part = Part(rawValue: String(words[0])) else {
            throw CommandFailure(.invalid, "after: expected the \"next\" of another page", field: "after")
        }
        self.init(part, try Cursor(after: words[1].isEmpty ? nil : String(words[1])))
    }

    /// The place of the next page; `nil` after the last one.
    ///
    /// - Parameter cursor: Where the part continues; `nil` if it has ended.
    package func next(_ cursor: Cursor?) -> ExportPlace? {
        if let cursor { return ExportPlace(part, cursor) }
        let rest = Part.allCases.drop { $0 != part }.dropFirst()
        return rest.first.map { ExportPlace($0, nil) }
    }

    /// The part, a hyphen, and the cursor.
    package var text: String { "\(part.rawValue)-\(cursor?.description ?? "")" }
}
