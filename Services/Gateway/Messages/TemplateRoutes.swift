import Bus
package import Base
package import Schemas

/// The templates of messages over HTTP.
struct TemplateRoutes: Feature {
    private let resource: ResourceRoutes<MessageTemplate>

    /// - Parameters:
    ///   - cube: Has the subjects that templates name.
    ///   - messageLog: A client of the message log, which keeps the templates.
    init(cube: CubeService, messageLog: CommandClient) {
        resource = ResourceRoutes(MessageTemplate.self, of: messageLog, write: .send) { caller, stored, draft in
            // Everyone's messages may use a template.
            try caller.requireScope(for: nil)
            if stored?.urgent == true || draft?.urgent == true { try caller.requireAdministrator() }
            // A stored subject stays, although it may have been deleted since.
            guard let topicKey = draft?.topicKey, topicKey != stored?.topicKey else { return }
            guard let entry = try await cube.subject(of: topicKey) else {
                throw Problem(.invalidField, "topic_key: no subject has the topic key \(topicKey)", field: "topic_key")
            }
            try await cube.requireSend(caller, to: topicKey, entry.names)
        }
    }

    var section: APISection {
        APISection(
            "Templates",
            "A template has the texts of a message, with named blanks such as `{{room}}`. `POST /message` with a `template` and its "
                + "`values` sends it. `topic_key` is the subject that portals choose with it, one that its author may send to. "
                + "Tokens for a part of the cube do not change templates, and urgent templates are changed only by "
                + "administrators.")
    }

    var routes: [Route] { resource.routes }
}

extension MessageTemplate.Draft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "urgent": ["description": "Whether portals show it first; only for administrators."],
                "topic_key": ["description": "The subject that portals choose with it: one that the caller may send to."],
            ]
        ]
    }
}

extension MessageTemplate.Draft: HasExample {
    package static var example: MessageTemplate.Draft {
        MessageTemplate.Draft(
            name: "Room moved", title: "{{course}} moves", desc: "To {{room}}", message: "{{course}} is in {{room}} today.")
    }
}

extension MessageTemplate: HasExample {
    package static var example: MessageTemplate { MessageTemplate(id: TopicKey.exampleTopic.channel, in: (), draft: .example) }
}
