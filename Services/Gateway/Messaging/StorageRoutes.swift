import Bus
import HTTPTypes
import Schemas
import ServiceKit

/// What the hub stores, and how often persons have called the messaging service: for the operator's eyes.
struct StorageRoutes: Feature {
    let clients: ServiceClients

    private static let timeout = Duration.seconds(2)

    var section: APISection {
        APISection(
            "Storage and calls",
            "How full each store is, and the calls of the month beside the limit that the operator has set.")
    }

    var routes: [Route] {
        [
            Route(.get, "/storage", right: .administer, answer: .ok(StorageReport.self)) { call in
                Answer(await report(for: call.caller))
            }.documented(
                "Read how full each store is",
                "`percent` is the used part of the room: of the limit if there is one, and of the disk otherwise. From 90 on "
                    + "the health says so, and at 100 nothing new is stored. `away` has the services that did not answer."),
            Route(.get, "/calls", right: .administer, answer: .ok(CountMessaging.Reply.self)) { call in
                Answer(try await clients[.messaging].request(CountMessaging(), context: call.caller))
            }.documented(
                "Read the calls of the month",
                "`calls` by the names of the seed's operations; those of all other routes of messages, statuses and pictures "
                    + "are `others`. `call_limit` is what the operator wants to be warned of. It also says how many messages "
                    + "wait, how many reports are open, and how much room the pictures take up. It names no person."),
        ]
    }

    private func report(for caller: CallerContext) async -> StorageReport {
        let services = clients.all.filter { $0.service.keepsData }
        let found = await withTaskGroup(of: (String, [StoreUsage]?).self) { group in
            for (service, client) in services {
                group.addTask { (service.name, await Self.stores(of: client, for: caller)) }
            }
            return await group.reduce(into: [String: [StoreUsage]]()) { $0[$1.0] = $1.1 }
        }
        let names = services.map(\.service.name)
        return StorageReport(
            stores: names.flatMap { found[$0] ?? [] }, away: names.filter { found[$0] == nil })
    }

    /// - Returns: `nil` if the service does not answer.
    private static func stores(of client: CommandClient, for caller: CallerContext) async -> [StoreUsage]? {
        let health = try? await client.request(CheckHealth(), timeout: timeout, context: caller)
        return health.map { $0.stores ?? [] }
    }
}

/// The answer of `GET /storage`.
struct StorageReport: Codable, Sendable {
    let stores: [StoreUsage]
    /// The names of the services that have not answered.
    let away: [String]
}
