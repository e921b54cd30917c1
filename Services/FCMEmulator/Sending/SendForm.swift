/// The fields of FCM's v1 API (discovery document, revision 20261023).
///
/// The sending services have their own list of them (`Shared/FCM/Rules/FCMForm.swift`). The two are separate on purpose: a
/// mistake in one shows when a test sends the field to the emulator.
extension MessageForm {
    /// The body of `messages:send`.
    static let sendRequest = MessageForm(
        "google.firebase.fcm.v1.SendMessageRequest", ["validate_only": .boolean, "message": .message(.message)])

    private static let message = MessageForm(
        fcm("Message"),
        [
            "name": .string,
            "data": .stringMap,
            "notification": .message(
                MessageForm(fcm("Notification"), ["title": .string, "body": .string, "image": .string])),
            "android": .message(android),
            "android_v2": .message(androidV2),
            "webpush": .message(webpush),
            "apns": .message(apns),
            "fcm_options": .message(MessageForm(fcm("FcmOptions"), ["analytics_label": .string])),
            "token": .string,
            "topic": .string,
            "condition": .string,
            "fid": .string,
        ])

    private static let webpush = MessageForm(
        fcm("WebpushConfig"),
        [
            "headers": .stringMap, "data": .stringMap, "notification": .structure,
            "fcm_options": .message(
                MessageForm(fcm("WebpushFcmOptions"), ["link": .string, "analytics_label": .string])),
        ])

    private static let apns = MessageForm(
        fcm("ApnsConfig"),
        [
            "headers": .stringMap, "payload": .structure, "live_activity_token": .string,
            "fcm_options": .message(
                MessageForm(fcm("ApnsFcmOptions"), ["analytics_label": .string, "image": .string])),
        ])

    static func fcm(_ name: String) -> String { "google.firebase.fcm.v1.\(name)" }
}
