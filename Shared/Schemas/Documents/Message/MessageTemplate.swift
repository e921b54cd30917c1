package import Base

/// A template: the texts of a message with named blanks. `template.add`, `template.get`, `template.update`, `template.delete` and
/// `template.list` are its commands.
package struct MessageTemplate: Resource, Hashable {
    package let id: ObjectID
    /// Unique among the templates.
    package var name: String
    package var title: String
    package var desc: String
    package var message: String
    /// Whether portals show it first, for an emergency.
    package var urgent: Bool
    /// The subject that portals choose with it, which may have been deleted since; `nil` if the sender chooses.
    package var topicKey: TopicKey?

    package enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, title, desc, message, urgent
        case topicKey = "topic_key"
    }

    package static let kind = "template"

    package init(id: ObjectID, in parent: Void, draft: Draft) {
        self.id = id
        name = draft.name
        title = draft.title
        desc = draft.desc
        message = draft.message
        urgent = draft.urgent ?? false
        topicKey = draft.topicKey
    }

    package mutating func update(by draft: Draft) {
        self = MessageTemplate(id: id, in: (), draft: draft)
    }

    /// What a caller sends. `urgent` and `topic_key` are optional.
    package struct Draft: Codable, Checked, Hashable, Sendable {
        package let name: String
        package let title: String
        /// May be empty, for Information.
        package let desc: String
        package let message: String
        package let urgent: Bool?
        package let topicKey: TopicKey?

        package init(
            name: String, title: String, desc: String, message: String, urgent: Bool? = nil, topicKey: TopicKey? = nil
        ) {
            self.name = name
            self.title = title
            self.desc = desc
            self.message = message
            self.urgent = urgent
            self.topicKey = topicKey
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case name, title, desc, message, urgent
            case topicKey = "topic_key"
        }

        package func check() throws(SchemaViolation) {
            try TextLimits.name.check(name, CodingKeys.name)
            let texts: [(CodingKeys, String, TextLimits)] = [
                (.title, title, .title), (.desc, desc, .notificationBody), (.message, message, .messageText),
            ]
            for (field, text, limits) in texts {
                try limits.check(text, field)
                guard TemplateText(text).hasStrayBraces else { continue }
                throw SchemaViolation(
                    field, "expected blanks of the form {{name}}, with a name of 1 to 40 ASCII letters, digits, _ and -")
            }
        }
    }
}

extension MessageTemplate {
    /// The texts with filled blanks.
    ///
    /// - Throws: A violation that names the missing or unknown value, such as `values.room`.
    package func filled(with values: [String: String]) throws(SchemaViolation) -> MessageTexts {
        let texts = [title, desc, message].map { TemplateText($0) }
        let blanks = texts.flatMap(\.blanks)
        if let missing = blanks.first(where: { values[$0] == nil }) {
            throw SchemaViolation(field: "values.\(missing)", problem: "missing, but the template has this blank")
        }
        if let unknown = values.keys.sorted().first(where: { !blanks.contains($0) }) {
            var known: [String] = []
            for blank in blanks where !known.contains(blank) { known.append(blank) }
            throw SchemaViolation(
                field: "values.\(unknown)",
                problem: "not a blank of the template, which has " + (known.isEmpty ? "none" : known.joined(separator: ", ")))
        }
        return MessageTexts(
            title: texts[0].filled(with: values), desc: texts[1].filled(with: values), message: texts[2].filled(with: values))
    }
}

/// A text with named blanks, such as `Moved to {{room}}`. Spaces inside the braces do not count.
package struct TemplateText: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case text(Substring)
        case blank(String)
    }

    private let pieces: [Piece]

    /// Reads any text. Braces that are no blank are part of the text.
    package init(_ text: String) {
        var pieces: [Piece] = []
        // The start of the text that is in no piece yet, and of the text that is still to be searched.
        var (start, rest) = (text.startIndex, text[...])
        while let open = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
            rest = rest[rest.utf8.index(after: open)...]
            // Of three braces, the first is text.
            guard let blank = Self.blank(in: rest) else { continue }
            pieces.append(.text(text[start..<open]))
            pieces.append(.blank(String(blank.name)))
            (start, rest) = (blank.end, rest[blank.end...])
        }
        self.pieces = pieces + [.text(text[start...])]
    }

    /// The blank whose first brace stands before a text.
    private static func blank(in text: Substring) -> (name: Substring, end: String.Index)? {
        guard text.hasPrefix("{") else { return nil }
        let start = text.dropFirst().drop { $0 == " " }
        let name = start.prefix { isNameCharacter($0) }
        let end = start[name.endIndex...].drop { $0 == " " }
        guard (1...maxName).contains(name.utf8.count), end.hasPrefix("}}") else { return nil }
        return (name, end.utf8.index(end.startIndex, offsetBy: 2))
    }

    /// The names of its blanks in their order; a name may occur more than once.
    package var blanks: [String] {
        pieces.compactMap { if case .blank(let name) = $0 { name } else { nil } }
    }

    /// Whether two opening braces stand outside its blanks: probably a misspelt blank.
    var hasStrayBraces: Bool {
        let outside = pieces.map { if case .text(let text) = $0 { String(text) } else { " " } }
        return outside.joined().contains("{{")
    }

    /// The text with filled blanks.
    ///
    /// - Parameter values: A value for every blank.
    func filled(with values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): String(text)
            case .blank(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// The maximum length of a blank's name.
    private static let maxName = 40

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || character == "_" || character == "-"
    }

    /// The maximum number of values.
    private static let maxValues = 100

    /// Checks the values for blanks: their names and lengths.
    ///
    /// - Throws: A violation that names the value.
    package static func check(values: [String: String], _ field: some CodingKey) throws(SchemaViolation) {
        guard values.count <= maxValues else {
            throw SchemaViolation(field, "expected at most \(maxValues) values, found \(values.count)")
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard (1...maxName).contains(name.utf8.count), name.allSatisfy(isNameCharacter) else {
                throw SchemaViolation(field, "expected names of 1 to 40 ASCII letters, digits, _ and -")
            }
            let place = "\(field.stringValue).\(name)"
            if let problem = TextLimits.messageText.problem(with: value) { throw SchemaViolation(field: place, problem: problem) }
            if let blank = TemplateText(value).blanks.first {
                throw SchemaViolation(field: place, problem: "the blank {{\(blank)}} is not filled")
            }
        }
    }
}
