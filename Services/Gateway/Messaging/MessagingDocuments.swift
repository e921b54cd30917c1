import Base
import Schemas

// The documents of the routes of messages, statuses and pictures that no command has.

/// The body of `PUT /user/messages/received`.
struct MessagesReceived: Codable, Checked, Sendable {
    /// ``MessageNews/after``.
    let after: Int64

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after
    }

    func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
    }
}

/// The body of `PUT /user/picture`.
struct PictureChoice: Codable, Sendable {
    /// The id of an ``UploadedPicture``.
    let picture: ObjectID

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case picture
    }
}

/// The answer of `GET /user/messaging`.
struct MessagingInformation: Codable, Sendable {
    let rules: MessagingRules
    let choices: MessagingChoices
    /// Whether classmates may write to each other, or friends alone.
    let classmates: Bool
}

/// The answer of `POST /pictures`.
struct PublishedPicture: Codable, Sendable {
    let url: String
    let picture: PictureInfo
    let expires: UnixMilliseconds
}

/// The name of a published picture in its address: `6b0187feff0dafac2833f431.jpg`.
struct PictureFile: Hashable, Sendable {
    let id: ObjectID
    let type: PictureType
}

extension PictureFile: LosslessStringConvertible {
    var description: String { "\(id).\(type.suffix)" }

    init?(_ description: String) {
        let parts = description.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = ObjectID(parts[0]),
            let type = PictureType.allCases.first(where: { $0.suffix == parts[1] })
        else { return nil }
        self.init(id: id, type: type)
    }
}

extension PictureFile: TextCodable {
    static var expected: String { "the id of a picture (an ObjectId) with .png, .jpg or .webp" }
    static var pattern: String { #"^[0-9A-Fa-f]{24}\.(png|jpg|webp)$"# }
    static var example: String { "\(ObjectID.example).jpg" }
}

// MARK: Queries

/// The parameters of `GET /user/messages`.
struct MessageNewsQuery: Decodable, Checked {
    private let after: Int64?
    private let limit: Int?
    private let prompt: ObjectID?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after, limit, prompt
    }

    func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
        try MessagingLimits.page.check(limit, CodingKeys.limit)
    }

    func command(on device: ObjectID) -> ReadMessageNews {
        ReadMessageNews(on: device, after: after ?? 0, limit: limit ?? 50, prompt: prompt)
    }
}

/// The parameters of `GET /user/conversations/:account`.
struct ConversationQuery: Decodable, Checked {
    private let limit: Int?
    /// The `next` of the page before.
    let before: Int64?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, before
    }

    var pageSize: Int { limit ?? 50 }

    func check() throws(SchemaViolation) {
        try MessagingLimits.page.check(limit, CodingKeys.limit)
        try (0...Int64.max).check(before, CodingKeys.before)
    }
}

/// The parameters of `POST /user/pictures`.
struct UploadQuery: Decodable {
    /// Whether the picture is that of a message that is to be reported.
    let report: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case report
    }
}

/// The parameters of `GET /reports`.
struct ReportQuery: Decodable, Checked {
    /// Whether only those that are open.
    private let open: Bool?
    private let limit: Int?
    /// The `next` of the page before.
    private let after: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case open, limit, after
    }

    func check() throws(SchemaViolation) {
        try command.check()
    }

    var command: ListReports { ListReports(open: open ?? false, limit: limit ?? 50, after: after) }
}
