import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about the erasure and the export of persons.
    mutating func serveErasure(_ people: People) {
        on(BeginErasure.self) { command, context in
            guard let device = command.device, let nonce = command.nonce, let proof = command.proof else {
                return try await people.erasures.begin(command.account, by: context.author, until: context.deadline ?? .now) {
                    change, _ in try change.require(.administrator, of: context)
                }
            }
            let challenge = try await people.challenges.challenge(nonce)
            return try await people.erasures.begin(
                command.account, by: context.author, using: challenge, until: context.deadline ?? .now
            ) { change, account in
                guard let device = try change.transaction.get(device, from: PeopleStore.devices)?.document,
                    device.account == account.id
                else {
                    throw CommandFailure(.unauthenticated, "device: it has signed out; sign in again", field: "device")
                }
                try device.require(.erasure, nonce: nonce, proof: proof)
            }
        }
        on(ListErasures.self) { _, _ in try await people.store.snapshot { try $0.erasures() } }
        on(ExportPerson.self) { command, _ in try await people.store.snapshot { try $0.export(of: command.account) } }
    }
}

extension Transaction {
    fileprivate func erasures() throws -> ListErasures.Reply {
        let limit = ListErasures.maxReports
        let waiting = try page(of: PeopleStore.erasures, Query(where: PeopleStore.erasureEnd == nil), limit: limit)
        let latest = try page(of: PeopleStore.erasures, Query(order: .descending(PeopleStore.erasureEnd)), limit: limit)
        return ListErasures.Reply(
            erasedNames: try count(PeopleStore.erasedNames, upTo: .max), waiting: waiting.documents.map(\.document.report),
            finished: latest.documents.filter { $0.finished != nil }.map(\.document.report))
    }
}
