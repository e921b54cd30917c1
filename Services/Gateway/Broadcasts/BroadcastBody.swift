import Base
package import Schemas

/// The body that sends or edits a broadcast, for the API's document. Its fields are those of all forms of the seeds, whose values the
/// schema leaves open: `BroadcastDraft` reads them, and its errors name the field.
struct BroadcastBody: Decodable, Sendable {
    // The agreed form, with the hub's additions.
    let id: JSONValue?
    let type: JSONValue?
    let relativetime: JSONValue?
    let epoch: JSONValue?
    let expiry: JSONValue?
    let lifetime: JSONValue?
    let actiondata: JSONValue?
    let channels: JSONValue?
    let condition: JSONValue?
    let `repeat`: JSONValue?
    // The intermediate form.
    let relative: JSONValue?
    let poster: JSONValue?
    let translations: JSONValue?
    // The display and the non-display form.
    let actiontype: JSONValue?
    let notificationtype: JSONValue?
    let notificationid: JSONValue?
    let channel: JSONValue?
    let fields: JSONValue?
    let data: JSONValue?
    let feature: JSONValue?
    let share: JSONValue?
    let popup: JSONValue?
    let group: JSONValue?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, type, relativetime, epoch, expiry, lifetime, actiondata, channels, condition, `repeat`, relative, poster
        case translations, actiontype, notificationtype, notificationid, channel, fields, data, feature, share, group, popup
    }
}

extension BroadcastBody: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "description": """
            A broadcast in the agreed form: `type`, `epoch`, `expiry` and `actiondata`, and the hub's `channels`, `condition`, `repeat` \
            and `lifetime`. The other fields are those of earlier forms. Empty texts count as absent, except where they would change who \
            gets it.
            """,
            "properties": [
                "id": ["description": "An integer; the hub chooses one if it is absent."],
                "type": ["description": "1 DOWNTIME, 2 OTHERS, 3 GREETINGS, 4 NON-DISPLAY."],
                "relativetime": ["description": "Refused: only local broadcasts have it, which ship with the app."],
                "epoch": ["description": "When it begins, such as 2016-08-29T02:40:33+0530; at once without it."],
                "expiry": ["description": "Minutes after `epoch`; in the display form a text such as 34646millis."],
                "lifetime": ["description": "The exact time until the expiry in milliseconds, in place of `expiry`."],
                "actiondata": ["description": "What it says or does. Its fields depend on the type."],
                "channels": ["description": "Only for the phones of these channels: 1 to 20 ids."],
                "condition": ["description": "An FCM condition over topics; not together with `channels`."],
                "repeat": ["description": "After how many minutes, at least 15, the push is repeated until the expiry."],
            ],
            "examples": [
                [
                    "type": 1, "expiry": 120,
                    "actiondata": [
                        "cancellable": false,
                        "translations": ["en": ["title": "Maintenance", "msg": "The hub is down until noon."]],
                    ],
                ]
            ],
        ]
    }
}

extension Broadcast: HasExample {
    package static var example: Broadcast {
        let draft = BroadcastDraft(
            type: .downtime, expiry: 120,
            actionData: BroadcastActionData(
                translations: ["en": .init(title: "Maintenance", msg: "The hub is down until noon.")], cancellable: false))
        return Broadcast(draft, id: 7, language: "en", sender: "ann", now: .exampleTime).withState(at: .exampleTime)
    }
}
