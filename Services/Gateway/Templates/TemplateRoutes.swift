import CommandBus
import Schemas

/// The templates of messages over HTTP.
struct TemplateRoutes: Feature {
    private let resource: ResourceRoutes<MessageTemplate>

    /// - Parameter messageLog: A client of the message log, which keeps the templates.
    init(messageLog: CommandClient) {
        resource = ResourceRoutes(MessageTemplate.self, of: messageLog, write: .send) { caller, stored, draft in
            // Everyone's messages may use a template.
            try caller.requireScope(for: nil)
            if stored?.urgent == true || draft?.urgent == true { try caller.requireAdministrator() }
        }
    }

    var section: APISection {
        APISection(
            "Templates",
            "A template has the texts of a message, with named blanks such as `{{room}}`. `POST /message` with a `template` and its "
                + "`values` sends it. Tokens for a part of the cube do not change templates, and urgent templates are changed only by "
                + "administrators.")
    }

    var routes: [Route] { resource.routes }
}
