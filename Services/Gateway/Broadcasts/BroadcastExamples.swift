import JSONSchema
package import Schemas

// The documents of broadcasts in the API's document.

extension Broadcast: HasExample {
    package static var example: Broadcast {
        let draft = BroadcastDraft(
            type: .downtime, expiry: 120,
            actionData: BroadcastActionData(
                translations: ["en": .init(title: "Maintenance", msg: "The hub is down until noon.")], cancellable: false))
        return Broadcast(draft, id: 7, language: "en", sender: "ann", now: .exampleTime).withState(at: .exampleTime)
    }
}
