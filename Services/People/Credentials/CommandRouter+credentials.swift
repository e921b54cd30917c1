import CommandBus
import Schemas
import Storage

extension CommandRouter {
    /// The number of uses that are stored in one transaction.
    private static let usesPerTransaction = 100

    /// The gateways' commands about credentials and their changes.
    mutating func serveCredentials(_ people: People) {
        on(FindCredential.self) { command, _ in
            try await people.store.snapshot { try $0.credential(command.hash) }
        }
        on(ListCredentials.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
        on(ReportUses.self) { command, _ in
            let now = people.changes.now()
            for start in stride(from: 0, to: command.uses.count, by: Self.usesPerTransaction) {
                let uses = command.uses[start..<min(start + Self.usesPerTransaction, command.uses.count)]
                try await people.store.transaction { transaction in
                    for use in uses { try transaction.store(use, now: now) }
                }
            }
            return Done()
        }
        on(ReadPeopleChanges.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
    }
}

extension Transaction {
    fileprivate func store(_ use: ReportUses.Use, now: UnixMilliseconds) throws {
        if try get(use.hash.description, from: PeopleStore.signIns) != nil {
            try update(use.hash.description, in: PeopleStore.signIns) { $0.used(at: use.at, now: now) }
        } else if let token = try token(use.hash), token.lastUsed ?? 0 < use.at {
            try update(token.id, in: PeopleStore.tokens) {
                $0.lastUsed = min(use.at, now)
                $0.lastAddress = use.address
            }
        }
    }
}
