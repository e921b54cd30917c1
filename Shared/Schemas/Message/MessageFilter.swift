import JSON

/// Which messages of the archive are wanted: those that meet every condition that is set.
package struct MessageFilter: Codable, Hashable, Sendable {
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        channel = try fields.optional(.channel)
        area = try fields.optional(.area)
        subject = try fields.optional(.subject)
        sender = try fields.optionalText(.sender, .sender)
        state = try fields.optional(.state)
        from = try fields.optionalInteger(.from, in: 0...maximumUnixMilliseconds)
        to = try fields.optionalInteger(.to, in: 0...maximumUnixMilliseconds)
        text = try fields.optional(.text)
    }
}
