package import JSON
package import Schemas

extension BroadcastPushData {
    /// The FCM message: only data, which the app shows itself when it is started. To iOS such a message must have APNs' priority 5. To
    /// Android it is not urgent either, also for a downtime: Android lowers the priority of apps whose urgent messages show no
    /// notification, and then Alerts come late as well. An app that is started asks the hub anyway.
    ///
    /// - Throws: An encoder's error.
    package var message: JSONValue {
        get throws {
            [
                "data": .texts(try data),
                "android": ["priority": "NORMAL"],
                "apns": [
                    "headers": ["apns-priority": "5", "apns-push-type": "background"],
                    "payload": ["aps": ["content-available": 1]],
                ],
            ]
        }
    }
}

extension BroadcastPopup {
    /// The FCM message: a notification, which the system shows also while the app does not run. It is a separate message, since
    /// Android gives an app in the background no data of a message that has both.
    package var message: JSONValue {
        [
            "notification": ["title": .string(texts.title), "body": .string(texts.msg)],
            "data": .texts(data),
            "android": ["priority": "HIGH", "notification": ["sound": "default", "tag": .string(tag)]],
            "apns": [
                "headers": ["apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": .string(tag)],
                "payload": ["aps": ["sound": "default"]],
            ],
        ]
    }
}

extension JSONValue {
    /// The same texts make the same bytes.
    fileprivate static func texts(_ texts: [String: String]) -> JSONValue {
        .object(texts.sorted { $0.key < $1.key }.map { Member($0.key, .string($0.value)) })
    }
}
