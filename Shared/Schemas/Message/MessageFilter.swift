package import JSON

/// Which messages of the archive are wanted: those that meet every condition that is set.
package struct MessageFilter: Codable, Checked, Hashable, Sendable {
    package var channel: ObjectID?
    package var area: ObjectID?
    package var subject: ObjectID?
    package var sender: String?
    package var state: RelayState?
    /// The first moment that is wanted, by the message's `timestamp`.
    package var from: UnixMilliseconds?
    /// The first moment that is not wanted any more.
    package var to: UnixMilliseconds?
    /// Words that all have to occur in the title, the description or the text.
    package var text: SearchQuery?

    package init() {}

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area, subject, sender, state, from, to, text
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.sender.check(sender, CodingKeys.sender)
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(to, CodingKeys.to)
    }
}
