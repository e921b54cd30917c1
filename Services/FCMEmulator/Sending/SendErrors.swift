import JSON

/// FCM's refusals of a send. The recorded answers differ in the order and number of their `details`, so each has
/// its own definition.
extension GoogleError {
    /// A message that breaks one of FCM's rules. The details have the field first, then FCM's own code.
    static func refused(_ message: String, field: String) -> GoogleError {
        .fcm(.invalidArgument, message, before: badRequestDetail([FieldViolation(field: field, description: message)]))
    }

    static let recipientMissing = refused("Recipient of the message is not set.", field: "message")

    static let malformedTopic = refused("Topic name contains invalid characters.", field: "message")

    /// The only refusal with FCM's own code first.
    static let malformedToken: GoogleError = {
        let message = "The registration token is not a valid FCM registration token"
        return .fcm(
            .invalidArgument, message,
            after: badRequestDetail([FieldViolation(field: "message.token", description: message)]))
    }()

    /// The only refusal without `details`.
    static let malformedCondition = invalidArgument("Request contains an invalid argument.")

    static let unregistered = fcm(.unregistered, "Requested entity was not found.")

    /// - Parameter max: The limit in bytes.
    static func messageTooLarge(max: Int) -> GoogleError {
        let limit = max % 1_024 == 0 ? "\(max / 1_024)K (\(max) bytes)" : "\(max) bytes"
        return .fcm(
            .invalidArgument, "Message is too large. The maximum is \(limit).",
            before: ["@type": .string(badRequestType)])
    }
}
