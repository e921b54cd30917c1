package import JSON

/// A command that did not succeed. On the wire: a reply header whose status says why, and this as its payload.
package struct CommandFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why; never ``ReplyStatus/ok``.
    package let status: ReplyStatus
    /// One sentence for whoever sent the command.
    package let message: String
    /// The field that is wrong, where it is one field's fault.
    package let field: String?
    /// For what the service cannot do now: not before so many milliseconds have passed is it worth asking again, of this or any
    /// other instance.
    package let retryAfter: Int64?

    package init(_ status: ReplyStatus, _ message: String, field: String? = nil, retryAfter: Int64? = nil) {
        self.status = status
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    /// A payload that breaks a schema.
    package init(_ violation: SchemaViolation) {
        self.init(.invalid, violation.description, field: violation.field.isEmpty ? nil : violation.field)
    }

    /// What the message of a failure contains where the command may have been done all the same.
    package static let outcomeUnknown = "outcome unknown"

    /// Whether the command may have been done all the same. Where not, it certainly was not.
    package var isOutcomeUnknown: Bool { status == .internal || message.contains(Self.outcomeUnknown) }

    package var description: String { "\(status.rawValue): \(message)" }

    /// The payload of the reply.
    package struct Payload: Codable, Hashable, Sendable {
        package let message: String
        package let field: String?
        package let retryAfter: Int64?

        private enum CodingKeys: String, CodingKey {
            case message, field
            case retryAfter = "retry_after"
        }
    }
}
