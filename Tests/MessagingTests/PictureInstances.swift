import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport

@testable import Messaging

/// The changes of two instances of the service at one database, with the same clock, which stands still.
struct PictureInstances: Sendable {
    let instances: [MessagingChanges]
    let clock: TestClock

    var store: Storage { instances[0].store }

    static func with<Result>(
        _ kind: StoreKind, pictures: Int64 = 10 << 20, isolation: isolated (any Actor)? = #isolation,
        _ body: (PictureInstances) async throws -> Result
    ) async throws -> Result {
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        let clock = TestClock()
        let rules = MessagingRules(
            days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil,
            pictures: pictures)
        return try await withTemporaryFolder { folder in
            try await withBus { bus in
                var instances: [MessagingChanges] = []
                for number in 0..<2 {
                    let store = try await Storage.open(
                        MessagingStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger,
                        now: { clock.now })
                    let publisher = try EventPublisher(
                        bus: bus, endpoint: "ipc://\(folder)/events-\(number).sock", logger: quietLogger)
                    instances.append(
                        MessagingChanges(
                            store: store, events: MessagingEvents(publisher: publisher, logger: quietLogger),
                            rules: { rules }, now: { clock.now }, committed: { _ in }))
                }
                let pair = PictureInstances(instances: instances, clock: clock)
                return try await perform {
                    try await body(pair)
                } finally: {
                    for instance in pair.instances { try await instance.store.close() }
                }
            }
        }
    }

    /// Makes a change on one of the instances.
    @discardableResult
    func make<Value: Sendable>(
        on number: Int = 0, _ body: @escaping @Sendable (inout MessagingChange) throws -> Value
    ) async throws -> Value {
        try await whenAvailable { try await instances[number % 2].make(by: .program, body) }
    }

    /// The failure of a change; `nil` if it succeeds.
    func failure<Value: Sendable>(
        of body: @escaping @Sendable (inout MessagingChange) throws -> Value
    ) async throws -> CommandFailure? {
        do {
            try await make(body)
            return nil
        } catch let failure as CommandFailure {
            return failure
        }
    }

    /// Uploads a picture.
    ///
    /// - Returns: Its id.
    func upload(
        _ bytes: [UInt8], by owner: AccountName = "ann", for purpose: PictureUseDocument.Purpose = .upload, on number: Int = 0
    ) async throws -> ObjectID {
        let picture = try CleanPicture(Data(bytes))
        return try await make(on: number) { change in
            let expires = change.now + MessagingLimits.uploadTime
            return try change.add(picture, of: owner, for: purpose, expires: expires).id
        }
    }

    /// What is wrong with the counts of pictures; empty if nothing is.
    func problems() async throws -> [String] {
        try await whenAvailable {
            try await store.snapshot { transaction in
                let uses = try transaction.scan(MessagingStore.uses, limit: 10_000).documents.map(\.document)
                let files = try transaction.scan(MessagingStore.pictures, limit: 10_000).documents.map(\.document)
                let chunks = try transaction.scan(MessagingStore.chunks, limit: 10_000).documents.map(\.document)
                let total = try transaction.get(PictureTotalDocument.id, from: MessagingStore.totals)?.bytes ?? 0
                var problems: [String] = []
                for file in files {
                    let count = uses.count { $0.picture == file.id }
                    if count != file.metadata.uses { problems.append("\(file.id) has \(count) uses, not \(file.metadata.uses)") }
                    let bytes: Int64 = chunks.filter { $0.file == file.id }.reduce(0) { $0 + Int64($1.data.count) }
                    if bytes != file.length { problems.append("\(file.id) has \(bytes) bytes, not \(file.length)") }
                }
                let known = Set(files.map(\.id))
                if !Set(uses.map(\.picture)).isSubset(of: known) { problems.append("a use has no picture") }
                if !Set(chunks.map(\.file)).isSubset(of: known) { problems.append("a part has no picture") }
                let length: Int64 = files.reduce(0) { $0 + $1.length }
                if total != length { problems.append("all pictures have \(length) bytes, not \(total)") }
                return problems
            }
        }
    }
}

extension SamplePNG {
    /// A picture that differs from those with other numbers.
    static func file(number: UInt8, bytes: Int = 0) -> [UInt8] {
        let rest = [UInt8](repeating: number, count: bytes)
        return file(header(), image, chunk("IDAT", [number] + rest), end)
    }
}
