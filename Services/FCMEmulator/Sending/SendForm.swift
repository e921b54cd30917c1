import FCM

extension FCMForm {
    /// The body of `messages:send`.
    static let sendRequest = FCMForm(
        fcm("SendMessageRequest"), ["validate_only": .boolean, "message": .message(addressedMessage)])

    private static let addressedMessage = FCMForm(
        message.type,
        message.fields.merging([
            "name": .string, "token": .string, "topic": .string, "condition": .string, "fid": .string,
        ]) { field, _ in field })
}
