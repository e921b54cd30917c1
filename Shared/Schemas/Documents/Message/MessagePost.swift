package import Base

/// A portal's post: the body of `POST /message`. It has its texts, or a template with the values for its blanks.
package struct MessagePost: Codable, Checked, Hashable, Sendable {
    /// The message. With a template its texts are placeholders, which ``content(from:)`` replaces.
    package private(set) var content: MessageContent
    /// The revision of the template whose texts the sender has seen; `nil` to send the present ones.
    package let templateRevision: Revision?
    /// Which of ``textFields`` the body has.
    private let given: [Field]

    private static let textFields = [Field(.title), Field(.desc), Field(.message)]

    /// A field of the body: of the content, or the template's revision.
    private struct Field: CodingKey, CaseIterable, Hashable {
        let stringValue: String
        var intValue: Int? { nil }

        static let templateRevision = Field(name: "template_revision")
        static let allCases = MessageContent.CodingKeys.allCases.map { Field($0) } + [templateRevision]

        init(_ field: MessageContent.CodingKeys) { stringValue = field.stringValue }
        private init(name: String) { stringValue = name }
        init?(intValue: Int) { nil }

        init?(stringValue: String) {
            guard let field = Self.allCases.first(where: { $0.stringValue == stringValue }) else { return nil }
            self = field
        }
    }

    /// The post of a message that has its texts.
    package init(_ content: MessageContent) {
        self.content = content
        templateRevision = nil
        given = Self.textFields
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        let texts = try Self.textFields.map { try fields.decodeIfPresent(String.self, forKey: $0) }
        given = zip(Self.textFields, texts).compactMap { $1 == nil ? nil : $0 }
        // A placeholder passes the check of the content.
        content = try MessageContent(
            MessageTexts(title: texts[0] ?? "-", desc: texts[1] ?? "-", message: texts[2] ?? "-"),
            decoder.container(keyedBy: MessageContent.CodingKeys.self))
        templateRevision = try fields.decodeIfPresent(Revision.self, forKey: .templateRevision)
    }

    /// Writes a post that has its texts. Posts with a template are only read.
    package func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
    }

    package func check() throws(SchemaViolation) {
        if content.template == nil {
            if let field = Self.textFields.first(where: { !given.contains($0) }) {
                throw SchemaViolation(field, "missing, but required")
            }
            for (field, isPresent) in [(Field(.values), content.values != nil), (.templateRevision, templateRevision != nil)]
            where isPresent {
                throw SchemaViolation(field, "expected only with a template")
            }
        } else if let field = given.first {
            throw SchemaViolation(field, "expected no text beside a template, which has the texts")
        }
        try content.check()
    }

    /// The message of a post with this template.
    ///
    /// - Throws: A violation that names the value, or the text that is too long.
    package func content(from template: MessageTemplate) throws(SchemaViolation) -> MessageContent {
        var filled = content
        filled.texts = try template.filled(with: content.values ?? [:])
        try filled.check()
        return filled
    }

    /// Whether a stored message is the result of this post. The template may have changed since.
    package func isSource(of stored: MessageContent) -> Bool {
        var marked = content.marked
        if content.template != nil { marked.texts = stored.texts }
        return marked == stored
    }

    /// Whether a stored message is the result of an edit with this post at a time, from which its `send_at` may have been counted.
    package func isSource(of stored: MessageContent, edited: UnixMilliseconds) -> Bool {
        var post = self
        if content.sendAt == nil, let time = stored.sendAt {
            let expected = edited + Milliseconds(content.delay ?? 0)
            guard (expected - Self.editDuration...expected + Self.editDuration).contains(time) else { return false }
            (post.content.sendAt, post.content.delay) = (time, nil)
        }
        return post.isSource(of: stored)
    }

    /// The maximum time from the request of an edit until it is recorded, including the difference between two machines' clocks.
    private static let editDuration = Milliseconds.seconds(10)
}
