package import JSON

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

    package enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, title, desc, message, urgent
    }

    package static let kind = "template"

    package init(id: ObjectID, in parent: Void, draft: Draft) {
        self.id = id
        name = draft.name
        title = draft.title
        desc = draft.desc
        message = draft.message
        urgent = draft.urgent ?? false
    }

    package mutating func update(by draft: Draft) {
        self = MessageTemplate(id: id, in: (), draft: draft)
    }

    /// What a caller sends. `urgent` is optional.
    package struct Draft: Codable, Checked, Hashable, Sendable {
        package let name: String
        package let title: String
        /// May be empty, for Information.
        package let desc: String
        package let message: String
        package let urgent: Bool?

        package init(name: String, title: String, desc: String, message: String, urgent: Bool? = nil) {
            self.name = name
            self.title = title
            self.desc = desc
            self.message = message
            self.urgent = urgent
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case name, title, desc, message, urgent
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
