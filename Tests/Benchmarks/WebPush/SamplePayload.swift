import Base
import FoundationEssentials
import Schemas

/// What a browser gets of an Alert, in the form and about the length of the product's payloads.
enum SamplePayload {
    static let data: Data = {
        let key = ObjectID()
        let json: JSONValue = [
            "web_push": 8_030,
            "notification": [
                "title": "Campus closed", "body": "Please stay at home", "dir": "auto",
                "navigate": .string("https://hub.example.edu/app/#message/\(key)"), "tag": .string(key.description),
            ],
            "msi": [
                "msi_key": .string(key.description),
                "topic_key": .string(TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()).description),
                "timestamp": 1_795_262_462_412, "distribution": "Alert",
            ],
        ]
        return json.data
    }()
}
