package import Base
package import Schemas

extension StoredPersonPush {
    /// FCM's message for a device: a notification, which the system shows even while the app does not run, and what the app needs to
    /// fetch the rest.
    ///
    /// - Parameter language: The device's.
    package func fcm(in language: String?) -> JSONValue {
        let isUrgent = push.urgency == .high
        return [
            "notification": ["title": .string(push.text(in: language).text)],
            "data": ["person_kind": .string(kind.description), "person_id": .string(push.id), "link": .string(push.link)],
            "android": [
                "priority": isUrgent ? "HIGH" : "NORMAL", "notification": ["sound": "default", "tag": .string(tag)],
            ],
            "apns": [
                "headers": [
                    "apns-priority": isUrgent ? "10" : "5", "apns-push-type": "alert", "apns-collapse-id": .string(tag),
                ],
                "payload": ["aps": ["sound": "default"]],
            ],
        ]
    }
}
