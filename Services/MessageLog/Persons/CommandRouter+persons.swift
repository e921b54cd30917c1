import Archive
import Bus
import Base
import Logging
import Schemas

extension CommandRouter {
    /// The commands that each service with personal data answers.
    mutating func addPersons(store: any MessageStore, outbox: Outbox, logger: Logger) {
        on(ErasePerson.self) { command, _ in
            let count = try await outbox.erase(command.account)
            try await store.removeTraces()
            logger.info("a person was removed from the pushes that wait", metadata: ["pushes": "\(count)"])
            return ErasePerson.Reply(
                removed: [ErasedData(what: "pushes", count: count)],
                stays: ["messages that the account has sent, with its name"])
        }
        on(ExportPerson.self) { command, _ in
            let after = command.after.flatMap { ObjectID($0) }
            guard (command.after == nil) == (after == nil) else {
                throw CommandFailure(.invalid, "expected the next of an earlier page", field: "after")
            }
            let keys = try await store.pushesWaiting(for: command.account).map(\.id).sorted()
            let rest = keys.drop { key in after.map { key <= $0 } ?? false }
            let page = rest.prefix(maxExported)
            var pushes: [JSONValue] = []
            for id in page {
                // It may have gone out since.
                guard let push = try await store.push(id), let content = push.person else { continue }
                pushes.append(try JSONValue(encoding: ExportedPush(push, content)))
            }
            let isLast = rest.count == page.count
            return ExportPerson.Reply(files: ["pushes.json": pushes], next: isLast ? nil : page.last?.description)
        }
    }
}

/// How many pushes a page of an export has.
private let maxExported = 100

/// A push that waits for a person's devices, as the person's export has it: without its other recipients.
private struct ExportedPush: Encodable {
    let id: ObjectID
    let kind: PushKind
    /// What it is about.
    let subject: String
    let link: String
    let texts: [String: String]
    let logged: UnixMilliseconds
    let notBefore: UnixMilliseconds?
    let expires: UnixMilliseconds

    private enum CodingKeys: String, CodingKey {
        case kind, subject, link, texts, logged, expires
        case id = "push_id"
        case notBefore = "not_before"
    }

    init(_ push: Push, _ content: StoredPersonPush) {
        id = push.id
        kind = content.kind
        (subject, link, texts) = (content.push.id, content.push.link, content.push.texts)
        (logged, notBefore, expires) = (push.logged, push.notBefore, push.expires)
    }
}
