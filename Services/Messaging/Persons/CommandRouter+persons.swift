import Bus
import Logging
import Schemas

extension CommandRouter {
    /// The commands that each service with personal data answers.
    mutating func servePersons(_ messaging: Messaging) {
        let erasing = PersonErasing(changes: messaging.changes, removal: messaging.removal)
        let exporting = PersonExporting(changes: messaging.changes)
        on(ErasePerson.self) { command, context in
            let reply = try await erasing.erase(command.account)
            context.logger.info(
                "a person was removed", metadata: ["documents": "\(reply.removed.map(\.count).reduce(0, +))"])
            return reply
        }
        onRead(ExportPerson.self) { command, _ in
            try messaging.restored.requireLook()
            return try await exporting.page(of: command.account, after: command.after)
        }
    }
}
