import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// Pictures in the store: each is there once, for as long as something has it.
@Suite("Stored pictures", .timeLimit(.minutes(10)))
struct PictureStoreTests {
    @Test("The same picture is stored once, and goes with what had it last", arguments: StoreKind.allCases)
    func once(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            let store = pair.store
            // Three parts.
            let file = SamplePNG.file(number: 1, bytes: 600_000)
            let id = try CleanPicture(Data(file)).id
            let (first, second) = (try await pair.upload(file), try await pair.upload(file, by: "bob"))
            #expect(first != second)
            #expect(try await store.snapshot { try $0.bytes(of: id) } == Data(file))
            let stored = try #require(try await store.get(id, from: MessagingStore.pictures)?.document)
            #expect(stored.length == Int64(file.count) && stored.metadata.uses == 2)
            let info = try await store.snapshot { try $0.info(of: id) }
            #expect(info == PictureInfo(type: .png, width: 2, height: 2, bytes: file.count))
            #expect(try await pair.problems() == [])

            let used = try await pair.make { try $0.use(first, of: "ann", for: .message, expires: nil) }
            #expect(used.use == first && used.picture == id && used.info == info)
            #expect(try await pair.problems() == [])
            try await pair.make { try $0.release(first) }
            try await pair.make { try $0.release(first) }
            #expect(try await store.snapshot { try $0.bytes(of: id) } == Data(file))
            try await pair.make { try $0.release(second) }
            #expect(try await store.snapshot { try $0.bytes(of: id) } == nil)
            #expect(try await pair.problems() == [])
            for left in try await Self.counts(in: store) { #expect(left == 0) }
        }
    }

    /// How many pictures, parts and uses there are, also expired ones, and the bytes.
    private static func counts(in store: Storage) async throws -> [Int] {
        try await store.snapshot { transaction in
            [
                try transaction.count(MessagingStore.pictures, upTo: 10),
                try transaction.count(MessagingStore.chunks, upTo: 10), try transaction.count(MessagingStore.uses, upTo: 10),
                Int(try transaction.get(PictureTotalDocument.id, from: MessagingStore.totals)?.bytes ?? 0),
            ]
        }
    }

    @Test("An upload is used once, by its owner, before it expires, and for what it was made", arguments: StoreKind.ofRules)
    func uploads(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            func refusal(
                _ upload: ObjectID, of owner: AccountName = "ann", for purpose: PictureUseDocument.Purpose = .message
            ) async throws -> Bool {
                let failure = try await pair.failure { try $0.use(upload, of: owner, for: purpose, expires: nil) }
                guard let failure else { return false }
                return failure.status == .notFound && failure.field == "picture"
            }
            let upload = try await pair.upload(SamplePicture.jpeg.bytes)
            #expect(try await refusal(upload, of: "bob"))
            #expect(try await refusal(ObjectID()))
            try await pair.make { _ = try $0.use(upload, of: "ANN", for: .message, expires: nil) }
            #expect(try await refusal(upload))
            let evidence = try await pair.upload(SamplePicture.webp.bytes, for: .evidence)
            #expect(try await refusal(evidence))
            #expect(try await refusal(evidence, for: .profile))
            #expect(try await !refusal(evidence, for: .report))
            let late = try await pair.upload(SamplePicture.png.bytes)
            pair.clock.pass(MessagingLimits.uploadTime)
            #expect(try await refusal(late))
            #expect(try await pair.problems() == [])
        }
    }

    @Test("Not more than 50 uploads of a person wait, and not those that were used or have expired")
    func tooMany() async throws {
        try await PictureInstances.with(.sqlite) { pair in
            var last = ObjectID()
            for number in 0..<MessagingLimits.maxUploads {
                last = try await pair.upload(
                    SamplePNG.file(number: UInt8(number)), for: number % 2 == 0 ? .upload : .evidence)
            }
            let picture = try CleanPicture(Data(SamplePicture.png.bytes))
            @Sendable func upload(_ change: inout MessagingChange) throws {
                _ = try change.add(picture, of: "ann", for: .upload, expires: change.now + MessagingLimits.uploadTime)
            }
            #expect(try await pair.failure(of: upload)?.status == .conflict)
            _ = try await pair.upload(SamplePicture.png.bytes, by: "bob")
            let used = last
            try await pair.make { _ = try $0.use(used, of: "ann", for: .report, expires: nil) }
            #expect(try await pair.failure(of: upload) == nil)
            #expect(try await pair.failure(of: upload)?.status == .conflict)
            pair.clock.pass(MessagingLimits.uploadTime)
            #expect(try await pair.failure(of: upload) == nil)
            #expect(try await pair.problems() == [])
        }
    }

    @Test("Whose pictures nobody has seen sends no more of them, and can still report", arguments: StoreKind.ofRules)
    func unseen(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            let picture = try CleanPicture(Data(SamplePicture.png.bytes))
            let now = pair.clock.now
            let sent = (0..<MessagingLimits.maxSentPictures).map { _ in
                PictureUseDocument(
                    id: ObjectID(), picture: picture.id, purpose: .message, owner: "ann", profile: nil, at: now, expires: nil)
            }
            try await pair.make { try $0.transaction.insert(all: sent, into: MessagingStore.uses) }
            @Sendable func upload(_ change: inout MessagingChange) throws {
                _ = try change.add(picture, of: "ann", for: .upload, expires: now + MessagingLimits.uploadTime)
            }
            #expect(try await pair.failure(of: upload)?.status == .conflict)
            _ = try await pair.upload(SamplePicture.png.bytes, for: .evidence)
            _ = try await pair.upload(SamplePicture.png.bytes, by: "bob")
            try await pair.make { try $0.transaction.delete([sent[0].id], from: MessagingStore.uses) }
            #expect(try await pair.failure(of: upload) == nil)
        }
    }

    @Test("An account has at most 1,000 published pictures that have not expired", arguments: StoreKind.ofRules)
    func published(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            let picture = try CleanPicture(Data(SamplePicture.png.bytes))
            let (now, time) = (pair.clock.now, Milliseconds.seconds(60))
            let known = (0..<MessagingLimits.maxPublishedPictures).map { _ in
                PictureUseDocument(
                    id: ObjectID(), picture: picture.id, purpose: .published, owner: "ann", profile: nil, at: now,
                    expires: now + time)
            }
            try await pair.make { try $0.transaction.insert(all: known, into: MessagingStore.uses) }
            @Sendable func publish(_ change: inout MessagingChange) throws {
                _ = try change.add(picture, of: "ann", for: .published, expires: change.now + time)
            }
            #expect(try await pair.failure(of: publish)?.status == .conflict)
            _ = try await pair.upload(SamplePicture.png.bytes, by: "bob", for: .published)
            pair.clock.pass(time)
            #expect(try await pair.failure(of: publish) == nil)
        }
    }

    @Test("Pictures have their limit, but for one that is stored already or is for a report", arguments: StoreKind.ofRules)
    func limit(kind: StoreKind) async throws {
        let file = SamplePNG.file(number: 1, bytes: 1_000)
        try await PictureInstances.with(kind, pictures: Int64(file.count)) { pair in
            let first = try await pair.upload(file)
            _ = try await pair.upload(file, by: "bob")
            let other = try CleanPicture(Data(SamplePicture.webp.bytes))
            @Sendable func upload(_ change: inout MessagingChange) throws {
                _ = try change.add(other, of: "ann", for: .upload, expires: change.now + MessagingLimits.uploadTime)
            }
            #expect(try await pair.failure(of: upload)?.status == .storageFull)
            _ = try await pair.upload(SamplePicture.jpeg.bytes, for: .evidence)
            try await pair.make { change in
                try change.release(first)
                _ = try change.releaseAll(of: "bob", limit: 10)
                _ = try change.releaseAll(of: "ann", limit: 10)
            }
            #expect(try await pair.failure(of: upload) == nil)
            #expect(try await pair.problems() == [])
        }
    }

    @Test("With an erased person the pictures go, and those of the person's reports stay without the name")
    func erased() async throws {
        try await PictureInstances.with(.sqlite) { pair in
            var uploads: [ObjectID] = []
            for number in 0..<4 { uploads.append(try await pair.upload(SamplePNG.file(number: UInt8(number)))) }
            let (report, profile) = (uploads[0], uploads[1])
            try await pair.make { change in
                _ = try change.use(report, of: "ann", for: .report, expires: nil)
                try change.setProfilePicture(profile, of: "ann")
            }
            let bobs = try await pair.upload(SamplePNG.file(number: 1), by: "bob")
            var counts: [Int] = []
            repeat { counts.append(try await pair.make { try $0.releaseAll(of: "ann", limit: 3) }) } while counts.last != 0
            #expect(counts == [3, 1, 0])
            let left = try await pair.store.snapshot { try $0.scan(MessagingStore.uses, limit: 10).documents.map(\.document) }
            #expect(Set(left.map(\.id)) == [report, bobs] && left.first { $0.id == report }?.owner == nil)
            #expect(try await pair.problems() == [])
            // A gateway may still take a token of the person.
            try await pair.make { change in
                let id = ErasedPersonDocument.identifier(of: "ann")
                try change.transaction.overwrite(
                    with: ErasedPersonDocument(id: id, expires: change.now + 1_000), in: MessagingStore.erased)
            }
            let picture = try CleanPicture(Data(SamplePicture.png.bytes))
            let late = try await pair.failure { change in
                _ = try change.add(picture, of: "ann", for: .upload, expires: change.now + 1_000)
            }
            #expect(late?.status == .unauthenticated)
        }
    }

    @Test("Uploads, uses and releases of the same pictures in the same moment leave right counts", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        let rounds = Level.isAll ? 100 : kind == .sqlite ? 8 : 4
        try await PictureInstances.with(kind) { pair in
            try await concurrently(4) { worker in
                var random = SeededGenerator(seed: UInt64(worker))
                let owner = try #require(AccountName("person-\(worker)"))
                var own: [ObjectID] = []
                for _ in 0..<rounds {
                    let number = UInt8.random(in: 0..<2, using: &random)
                    own.append(try await pair.upload(SamplePNG.file(number: number), by: owner, on: worker))
                    guard own.count > 2 else { continue }
                    let use = own.remove(at: Int.random(in: 0..<own.count, using: &random))
                    let isUsed = Bool.random(using: &random)
                    try await pair.make(on: worker) { change in
                        if isUsed { _ = try change.use(use, of: owner, for: .message, expires: nil) }
                        try change.release(use)
                    }
                }
                for use in own { try await pair.make(on: worker) { try $0.release(use) } }
            }
            #expect(try await pair.problems() == [])
            #expect(try await Self.counts(in: pair.store) == [0, 0, 0, 0])
        }
    }

    @Test("A profile has one picture, on two instances too", arguments: StoreKind.allCases)
    func profile(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            var uploads: [ObjectID] = []
            for number in 0..<6 { uploads.append(try await pair.upload(SamplePNG.file(number: UInt8(number)))) }
            try await concurrently(uploads.count) { [uploads] number in
                try await pair.make(on: number) { try $0.setProfilePicture(uploads[number], of: "ann") }
            }
            let found = try await pair.store.snapshot { transaction in
                (try transaction.profilePicture(of: "ann"), try transaction.count(MessagingStore.uses, upTo: 10))
            }
            #expect(found.0?.purpose == .profile && found.1 == 1)
            #expect(try await pair.problems() == [])
            try await pair.make { try $0.setProfilePicture(nil, of: "ann") }
            #expect(try await Self.counts(in: pair.store) == [0, 0, 0, 0])
            let other = try await pair.upload(SamplePicture.png.bytes, by: "bob")
            let failure = try await pair.failure { try $0.setProfilePicture(other, of: "ann") }
            #expect(failure?.status == .notFound && failure?.field == "picture")
        }
    }

    @Test("The same picture of a profile once more changes nothing, and neither does none once more")
    func repeatedProfile() async throws {
        try await PictureInstances.with(.sqlite) { pair in
            let upload = try await pair.upload(SamplePicture.png.bytes)
            for picture in [upload, nil] {
                try await pair.make { try $0.setProfilePicture(picture, of: "ann") }
                let before = try await pair.store.get("ann", from: MessagingStore.persons)?.position
                pair.clock.pass(.seconds(1))
                try await pair.make { try $0.setProfilePicture(picture, of: "ann") }
                #expect(try await pair.store.get("ann", from: MessagingStore.persons)?.position == before)
                #expect(try await pair.store.snapshot { try $0.profilePicture(of: "ann")?.id } == picture)
                #expect(try await pair.problems() == [])
            }
        }
    }
}
