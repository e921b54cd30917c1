import FoundationEssentials
import Base
import Schemas
import WebPushStore

/// The first push of a subscription. It shows that notifications are on, and has the code by which the subscription proves itself.
enum FirstPush {
    /// The message, whose `navigate` is completed as in every push.
    static func message(for subscription: SubscriptionDocument, code: Secret) -> WebPushMessage {
        let text = Text(language: subscription.language)
        let payload: JSONValue = [
            "web_push": 8_030,
            "notification": [
                "title": .string(text.title), "body": .string(text.body), PayloadTemplate.navigate: "",
                "lang": .string(text.language),
                "dir": text.isRightToLeft ? "rtl" : "ltr", "tag": "msi-first-push",
            ],
            "msi": ["code": .string(code.text)],
        ]
        // A repetition replaces it at the push service.
        return WebPushMessage(
            payload: payload, ttl: Seconds(SubscriptionDocument.timeToProve), urgency: .normal, topic: subscription.id.description
        )
    }

    /// The texts in the languages of the app.
    private struct Text {
        let language: String
        let title: String
        let body: String
        var isRightToLeft = false

        init(language: String?) {
            switch language.flatMap({ LanguageTag.fallbacks(of: $0).last }) {
            case "ar":
                (self.language, title) = ("ar", "الإشعارات مفعّلة")
                body = "ستصلك تنبيهات المواضيع التي اخترتها."
                isRightToLeft = true
            default:
                (self.language, title) = ("en", "Notifications are on")
                body = "You get the Alerts of the subjects that you have chosen."
            }
        }
    }
}
