package import JSON

/// `outbox.held`: the messages and pushes that are held since a restore, in the order of their keys, the oldest first.
package struct ListHeld: Command, Checked {
    package static let name = "outbox.held"

    package struct Reply: Codable, Hashable, Sendable {
        package let items: [HeldItem]
        /// How many there are in all.
        package let count: Int
        /// The `after` of the next page; absent on the last one.
        package let next: ObjectID?

        package init(items: [HeldItem], count: Int, next: ObjectID?) {
            self.items = items
            self.count = count
            self.next = next
        }
    }

    /// The maximum number of items of a page.
    package static let maxPerPage = 1_000

    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: ObjectID?

    package init(limit: Int = maxPerPage, after: ObjectID? = nil) {
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    package func check() throws(SchemaViolation) {
        try (1...Self.maxPerPage).check(limit, CodingKeys.limit)
    }
}
