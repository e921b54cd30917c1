import Bus
import FoundationEssentials
import Schemas
import Store

/// Finds the picture of something that has one, for who sees that.
struct PictureAccess: Sendable {
    let store: Storage
    let relations: Relations
    let restored: RestoredMessages
    let now: @Sendable () -> UnixMilliseconds

    /// The bytes of a picture, with what it is.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` if there is none, or none for the person.
    func read(_ command: ReadPicture, for context: CommandContext) async throws -> (PictureInfo, Data) {
        guard let picture = try await picture(of: command.of, command.id, for: context),
            let found = try await store.snapshot({ try $0.file(of: picture) })
        else { throw CommandFailure(.notFound, "no picture of this \(command.of.rawValue)") }
        return found
    }

    /// - Returns: ``PictureFileDocument/id``.
    private func picture(of holder: PictureHolder, _ id: String, for context: CommandContext) async throws -> String? {
        switch holder {
        case .message:
            guard let id = ObjectID(id) else { return nil }
            return try await picture(ofMessage: id, for: context.requirePerson())
        case .status:
            guard let id = ObjectID(id) else { return nil }
            return try await picture(ofStatus: id, for: context.requirePerson())
        case .profile:
            _ = try context.requirePerson()
            guard let account = AccountName(id) else { return nil }
            return try await store.snapshot { try $0.profilePicture(of: account.key)?.picture }
        case .report:
            _ = try context.requireActor()
            guard let id = ObjectID(id) else { return nil }
            return try await store.get(id, from: MessagingStore.reports)?.document.picture?.picture
        case .published:
            guard let id = ObjectID(id) else { return nil }
            guard let use = try await store.get(id, from: MessagingStore.uses)?.document, use.purpose == .published,
                use.isThere(at: now())
            else { return nil }
            return use.picture
        }
    }

    private func picture(ofMessage id: ObjectID, for person: AccountName) async throws -> String? {
        try restored.requireLook()
        guard let message = try await store.get(id, from: MessagingStore.messages)?.document,
            let picture = message.picture, [message.from, message.to].contains(person.key)
        else { return nil }
        let other = message.from == person.key ? message.toName : message.fromName
        guard let relation = try await relations.check([other], by: person)[other],
            !relation.state.parts(classmate: message.classmate == true)
        else { return nil }
        return picture.picture
    }

    private func picture(ofStatus id: ObjectID, for person: AccountName) async throws -> String? {
        let now = now()
        guard let status = try await store.snapshot({ try $0.status(id, at: now) }), let picture = status.picture else {
            return nil
        }
        if status.id != person.key {
            guard try await relations.check([status.name], by: person)[status.name]?.state == .friends else { return nil }
        }
        return picture.picture
    }
}

extension Transaction {
    fileprivate func file(of picture: String) throws -> (PictureInfo, Data)? {
        guard let info = try info(of: picture), let bytes = try bytes(of: picture) else { return nil }
        return (info, bytes)
    }
}
