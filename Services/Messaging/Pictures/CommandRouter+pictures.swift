import Base
import Bus
import FoundationEssentials
import Schemas

extension CommandRouter {
    /// The commands about pictures.
    mutating func servePictures(_ messaging: Messaging) {
        let changes = messaging.changes
        let access = PictureAccess(
            store: changes.store, relations: messaging.relations, restored: messaging.restored, now: changes.now)
        onBytes(AddPicture.self) { command, bytes, context in
            let owner = try context.requirePerson()
            messaging.calls.count("others")
            let purpose = command.report == true ? PictureUseDocument.Purpose.evidence : .upload
            return try await changes.add(bytes, of: owner, for: purpose, time: MessagingLimits.uploadTime, context)
        }
        onBytes(PublishPicture.self) { _, bytes, context in
            let time = Milliseconds.seconds(Int64(changes.rules().publishedDays).multiplied(by: 86_400))
            return try await changes.add(bytes, of: context.requirePerson(), for: .published, time: time, context)
        }
        onRead(ReadPicture.self) { command, context in
            if context.actor != nil { messaging.calls.count("others") }
            let (info, bytes) = try await access.read(command, for: context)
            return (info, bytes)
        }
        on(SetProfilePicture.self) { command, context in
            let account = try context.requirePerson()
            messaging.calls.count("others")
            try await changes.make(by: context) { change in try change.setProfilePicture(command.picture, of: account) }
            return Done()
        }
    }
}

extension MessagingChanges {
    /// Stores an uploaded file.
    ///
    /// - Parameter time: How long it waits for what has it, or is published.
    fileprivate func add(
        _ file: Data, of owner: AccountName, for purpose: PictureUseDocument.Purpose, time: Milliseconds,
        _ context: CommandContext
    ) async throws -> UploadedPicture {
        let picture = try CleanPicture(file)
        do {
            let uploaded = try await make(by: context) { change in
                let expires = change.now + time
                let use = try change.add(picture, of: owner, for: purpose, expires: expires)
                return UploadedPicture(id: use.id, picture: picture.info, expires: expires)
            }
            UploadOutcome.stored.count()
            return uploaded
        } catch let failure as CommandFailure {
            if failure.status == .storageFull { UploadOutcome.full.count() }
            if failure.status == .conflict { UploadOutcome.limited.count() }
            throw failure
        }
    }
}
