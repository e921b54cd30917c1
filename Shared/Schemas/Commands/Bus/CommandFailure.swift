package import Base

/// The failure of a command. On the wire it is the payload of a reply whose header has the status.
package struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason; never ``ReplyStatus/ok``.
    package let status: ReplyStatus
    /// One sentence for the command's sender.
    package let message: String
    /// The invalid field, if there is one.
    package let field: String?
    /// For a temporary failure: the wait before asking this or any other instance again.
    package let retryAfter: Milliseconds?

    package init(_ status: ReplyStatus, _ message: String, field: String? = nil, retryAfter: Milliseconds? = nil) {
        self.status = status
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    /// A payload that breaks a schema.
    package init(_ violation: SchemaViolation) {
        self.init(.invalid, violation.description, field: violation.field.isEmpty ? nil : violation.field)
    }

    /// The beginning of a failure's message if the service does not know the command, for example because the service is older.
    package static let unknownCommand = "unknown command"

    /// Whether the service does not know the command.
    package var isUnknownCommand: Bool { status == .invalid && message.hasPrefix(Self.unknownCommand) }

    /// The text in the message of a failure after which the command may have been done.
    package static let outcomeUnknown = "outcome unknown"

    /// Whether the command may have been done. If `false`, it certainly was not.
    package var isOutcomeUnknown: Bool { status == .internal || message.contains(Self.outcomeUnknown) }

    package var description: String { "\(status.rawValue): \(message)" }

    /// The payload of the reply.
    package struct Payload: Codable, Hashable, Sendable {
        package let message: String
        package let field: String?
        package let retryAfter: Milliseconds?

        private enum CodingKeys: String, CodingKey {
            case message, field
            case retryAfter = "retry_after"
        }
    }
}
