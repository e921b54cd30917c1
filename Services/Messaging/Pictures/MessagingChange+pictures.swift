import Base
import FoundationEssentials
import Schemas
import Store

extension MessagingChange {
    /// Stores a picture, or a further use of one that is stored already.
    ///
    /// - Parameters:
    ///   - owner: Who uploads it.
    ///   - purpose: With `evidence` it is stored also while there is no room for others.
    /// - Throws: ``CommandFailure``: `conflict`, `storage_full`, `unauthenticated`.
    mutating func add(
        _ picture: CleanPicture, of owner: AccountName, for purpose: PictureUseDocument.Purpose, expires: UnixMilliseconds
    ) throws -> PictureUseDocument {
        try transaction.requireNotErased(owner)
        try requireFewPictures(of: owner, for: purpose)
        // Everything that may fail comes before the first write, which would have to be undone.
        let isNew = try transaction.get(picture.id, from: MessagingStore.pictures) == nil
        if purpose != .evidence {
            try transaction.checkRoom()
            if isNew { try requireRoom(for: picture) }
        }
        // An erasure of the person then conflicts with it, and leaves no picture; so do uploads in the same moment, which are
        // counted.
        _ = try nextPosition(of: owner)
        if isNew {
            try store(picture)
        } else {
            try transaction.update(picture.id, in: MessagingStore.pictures) { $0.metadata.uses += 1 }
        }
        let use = PictureUseDocument(
            id: ObjectID(), picture: picture.id, purpose: purpose, owner: owner.key, profile: nil, at: now, expires: expires)
        try transaction.insert(use, into: MessagingStore.uses)
        return use
    }

    /// Nobody can take up the room of all others: neither with uploads that wait, nor with messages that nobody reads, nor with
    /// pictures for messages of the hub.
    private func requireFewPictures(of owner: AccountName, for purpose: PictureUseDocument.Purpose) throws {
        func require(_ purposes: PictureUseDocument.Purpose..., below max: Int, _ what: String) throws {
            guard try count(purposes, of: owner, upTo: max) < max else {
                throw CommandFailure(.conflict, "\(max) pictures that you have \(what), and no more are possible")
            }
        }
        if purpose == .published {
            return try require(.published, below: MessagingLimits.maxPublishedPictures, "published have not expired yet")
        }
        try require(.upload, .evidence, below: MessagingLimits.maxUploads, "uploaded wait to be used")
        if purpose == .upload {
            try require(.message, below: MessagingLimits.maxSentPictures, "sent have not been seen yet")
        }
    }

    private func count(_ purposes: [PictureUseDocument.Purpose], of owner: AccountName, upTo max: Int) throws -> Int {
        try purposes.reduce(0) { count, purpose in
            let query = Query(where: MessagingStore.useOwner == owner.key, MessagingStore.usePurpose == purpose)
            let found = try transaction.page(of: MessagingStore.uses, query, limit: max).documents
            return count + found.count { $0.document.isThere(at: now) }
        }
    }

    private func requireRoom(for picture: CleanPicture) throws {
        let total = try transaction.get(PictureTotalDocument.id, from: MessagingStore.totals)?.bytes ?? 0
        guard total.adding(Int64(picture.bytes.count)) <= rules.pictures else {
            throw CommandFailure(.storageFull, "the pictures take up all of their storage; try again later")
        }
    }

    private func store(_ picture: CleanPicture) throws {
        let length = Int64(picture.bytes.count)
        try changeTotal(by: length)
        let info = picture.info
        try transaction.insert(
            PictureFileDocument(
                id: picture.id, length: length, chunkSize: Int32(PictureChunkDocument.size), uploadDate: Date(now),
                metadata: .init(type: info.type, width: info.width, height: info.height, uses: 1)),
            into: MessagingStore.pictures)
        let size = PictureChunkDocument.size
        let starts = Array(stride(from: 0, to: picture.bytes.count, by: size))
        let chunks = starts.enumerated().map { n, start in
            PictureChunkDocument(
                id: ObjectID(), file: picture.id, n: Int32(n), data: Data(picture.bytes.dropFirst(start).prefix(size)))
        }
        try transaction.insert(all: chunks, into: MessagingStore.chunks)
    }

    /// Gives an upload to what has it from now on. It cannot be used once more.
    ///
    /// - Parameters:
    ///   - expires: When the picture goes by itself; `nil` if it goes with what has it.
    /// - Returns: The picture. ``StoredPicture/use`` is the upload's id, so that a repeated request is recognised.
    /// - Throws: ``CommandFailure`` with `not_found` and the field `picture` for one that the person has not uploaded for that.
    mutating func use(
        _ upload: ObjectID, of owner: AccountName, for purpose: PictureUseDocument.Purpose, expires: UnixMilliseconds?
    ) throws -> StoredPicture {
        guard let found = try transaction.get(upload, from: MessagingStore.uses)?.document, found.owner == owner.key,
            found.purpose == .upload || found.purpose == .evidence && purpose == .report, found.isThere(at: now),
            let info = try transaction.info(of: found.picture)
        else { throw CommandFailure(.notFound, "picture: you have no uploaded picture \(upload)", field: "picture") }
        let use = PictureUseDocument(
            id: upload, picture: found.picture, purpose: purpose, owner: owner.key,
            profile: purpose == .profile ? owner.key : nil, at: now, expires: expires)
        try transaction.update(upload, in: MessagingStore.uses) { $0 = use }
        return StoredPicture(
            use: upload, picture: found.picture, type: info.type, width: info.width, height: info.height, bytes: info.bytes)
    }

    /// What had a picture is gone. With the last use the picture is removed.
    mutating func release(_ use: ObjectID) throws {
        guard let found = try transaction.get(use, from: MessagingStore.uses)?.document else { return }
        try transaction.delete([use], from: MessagingStore.uses)
        removed()
        guard let file = try transaction.get(found.picture, from: MessagingStore.pictures)?.document else { return }
        guard file.metadata.uses <= 1 else {
            try transaction.update(file.id, in: MessagingStore.pictures) { $0.metadata.uses -= 1 }
            return
        }
        let query = Query(where: MessagingStore.chunkFile == file.id, order: .ascending(MessagingStore.chunkNumber))
        let chunks = try transaction.page(of: MessagingStore.chunks, query, limit: PictureChunkDocument.maxCount).documents
        try transaction.delete(chunks.map(\.document.id), from: MessagingStore.chunks)
        try transaction.delete([file.id], from: MessagingStore.pictures)
        try changeTotal(by: -file.length)
    }

    /// Releases the pictures of a person who is erased. Those of the person's reports stay without the name.
    ///
    /// - Returns: How many were found; 0 if there are none any more.
    mutating func releaseAll(of owner: String, limit: Int) throws -> Int {
        let query = Query(where: MessagingStore.useOwner == owner)
        let found = try transaction.page(of: MessagingStore.uses, query, limit: limit).documents.map(\.document)
        for use in found {
            if use.purpose == .report {
                try transaction.update(use.id, in: MessagingStore.uses) { $0.owner = nil }
            } else {
                try release(use.id)
            }
        }
        return found.count
    }

    /// Replaces the picture of a person's profile. Repeated with the same upload, it changes nothing.
    ///
    /// - Parameter upload: `nil` for none.
    mutating func setProfilePicture(_ upload: ObjectID?, of account: AccountName) throws {
        try transaction.requireNotErased(account)
        let old = try transaction.profilePicture(of: account.key)
        guard old?.id != upload else { return }
        // An erasure of the person then conflicts with it, and leaves no picture.
        _ = try nextPosition(of: account)
        if let old { try release(old.id) }
        if let upload { _ = try use(upload, of: account, for: .profile, expires: nil) }
    }

    private func changeTotal(by bytes: Int64) throws {
        let id = PictureTotalDocument.id
        guard try transaction.get(id, from: MessagingStore.totals) != nil else {
            try transaction.insert(PictureTotalDocument(id: id, bytes: max(0, bytes)), into: MessagingStore.totals)
            return
        }
        try transaction.update(id, in: MessagingStore.totals) { $0.bytes = max(0, $0.bytes.adding(bytes)) }
    }
}

extension PictureChunkDocument {
    /// How many the largest picture has.
    fileprivate static let maxCount = MessagingLimits.maxPictureBytes / size + 1
}

extension PictureUseDocument {
    /// Whether it has not expired.
    func isThere(at now: UnixMilliseconds) -> Bool { expires.map { now < $0 } ?? true }
}

extension Transaction {
    /// The bytes of a picture; `nil` if there is none.
    func bytes(of picture: String) throws -> Data? {
        guard let file = try get(picture, from: MessagingStore.pictures)?.document else { return nil }
        let query = Query(where: MessagingStore.chunkFile == picture, order: .ascending(MessagingStore.chunkNumber))
        let chunks = try page(of: MessagingStore.chunks, query, limit: PictureChunkDocument.maxCount).documents
        let bytes = chunks.reduce(into: Data()) { $0 += $1.document.data }
        return bytes.count == file.length ? bytes : nil
    }

    /// What a picture is; `nil` if there is none.
    func info(of picture: String) throws -> PictureInfo? {
        try get(picture, from: MessagingStore.pictures).map { file in
            PictureInfo(
                type: file.metadata.type, width: file.metadata.width, height: file.metadata.height, bytes: Int(file.length))
        }
    }

    /// The picture of a person's profile; `nil` for none.
    func profilePicture(of account: String) throws -> PictureUseDocument? {
        try page(of: MessagingStore.uses, Query(where: MessagingStore.useProfile == account), limit: 1).documents.first?.document
    }
}
