import Hummingbird
import Base
import MobileApp

/// The person's actions on broadcasts, and how the page shows broadcasts.
struct BroadcastActions: Sendable {
    let phone: SimulatedPhone

    func add(to router: Router<BasicRequestContext>) {
        router.put("/broadcasts/channels/:channel") { request, context in
            let areOn = try await PhonePage.flag("on", of: request)
            try await phone.app.broadcasts.set(channel: try context.parameters.require("channel"), areOn: areOn)
            phone.app.refresh()
            phone.changes.tell()
            return PhonePage.noContent
        }
        router.post("/broadcasts/:id/shown") { request, context in
            try await phone.app.broadcasts.shown(try await card(of: request, context))
            return PhonePage.noContent
        }
        router.post("/broadcasts/:id/close") { request, context in
            guard try await phone.app.broadcasts.close(try await card(of: request, context)) else {
                throw Refusal(.conflict, "this broadcast cannot be closed; it stays until it expires")
            }
            phone.changes.tell()
            return PhonePage.noContent
        }
    }

    /// The card with the path's id and the body's version.
    ///
    /// - Throws: ``Refusal``.
    private func card(of request: Request, _ context: BasicRequestContext) async throws -> BroadcastCard {
        let id = try context.parameters.require("id")
        let version = try await PhonePage.body(CardVersion.self, of: request).version
        guard let card = try await phone.broadcastCards().first(where: { $0.id == id }) else {
            throw Refusal(.notFound, "the phone shows no broadcast \(id.prefix(40))")
        }
        guard card.version == version else {
            throw Refusal(.conflict, "the phone shows version \(card.version) of this broadcast, not \(version)")
        }
        return card
    }

    private struct CardVersion: Decodable {
        let version: Int64
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
                    "id": .string(card.id), "version": .integer(card.version), "origin": .string(card.origin.rawValue),
                    "kind": .string(card.kind.rawValue), "title": .string(card.title), "message": .string(card.message),
                    "poster": card.poster.map { .string($0) } ?? .null,
                    "notificationtype": .string(card.notificationType.rawValue),
                    "data": card.data.map { .string($0) } ?? .null,
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

    /// For the page's state.
    func broadcastDataState() async throws -> JSONValue {
        .array(
            try await app.broadcasts.data().map { broadcast in
                [
                    "id": .integer(broadcast.id), "notificationtype": .string(broadcast.notificationType.rawValue),
                    "data": .string(broadcast.data), "expires": .integer(broadcast.expires),
                ]
            })
    }
}
