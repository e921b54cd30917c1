import Hummingbird
import JSON
import MobileApp

/// What a person does with broadcasts, and what the page shows of them.
struct BroadcastActions: Sendable {
    let phone: SimulatedPhone

    func add(to router: Router<BasicRequestContext>) {
        router.post("/broadcasts/:id/close") { _, context in
            let id = try context.parameters.require("id")
            guard let card = try await phone.broadcastCards().first(where: { $0.id == id }) else {
                throw Refusal(.notFound, "the phone shows no broadcast \(id.prefix(40))")
            }
            guard try await phone.app.broadcasts.close(card) else {
                throw Refusal(.conflict, "this broadcast cannot be closed; it stays until it expires")
            }
            phone.changes.tell()
            return PhonePage.noContent
        }
    }
}

extension SimulatedPhone {
    func broadcastCards() async throws -> [BroadcastCard] {
        try await app.broadcasts.cards(language: memory.system.control.language.rawValue)
    }

    /// For the page's state.
    func broadcastState() async throws -> JSONValue {
        .array(
            try await broadcastCards().map { card in
                [
                    "id": .string(card.id), "kind": .string(card.kind.rawValue), "title": .string(card.title),
                    "message": .string(card.message), "poster": card.poster.map { .string($0) } ?? .null,
                    "cancellable": .boolean(card.isCancellable), "expires": card.expires.map { .integer($0) } ?? .null,
                ]
            })
    }

    /// For the page's state.
    func featureState() async throws -> JSONValue {
        .array(
            try await app.broadcasts.features().map { feature in
                [
                    "name": .string(feature.name), "on": .boolean(feature.isOn),
                    "data": feature.data.map { .string($0) } ?? .null,
                    "expires": .integer(feature.expires),
                ]
            })
    }
}
