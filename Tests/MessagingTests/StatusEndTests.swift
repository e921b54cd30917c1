import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// What is removed of statuses and pictures without a request: what has ended, what a restore put back, and what nobody has used.
@Suite("Ended statuses", .timeLimit(.minutes(10)))
struct StatusEndTests {
    private static func setStatus(
        _ text: String?, _ upload: ObjectID? = nil, of account: AccountName, on pair: PictureInstances
    ) async throws -> StatusDocument {
        try await pair.make { try $0.setStatus(SetStatus(StatusDraft(text: text, picture: upload)), of: account) }
    }

    private static func left(in store: Storage) async throws -> [String] {
        try await store.snapshot { try $0.scan(MessagingStore.statuses, limit: 10_000).documents.map(\.document.id) }
    }

    @Test("Statuses go with their pictures when they end, uploads when nobody has used them", arguments: StoreKind.ofRules)
    func ended(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            let loop = StatusLoop(changes: pair.instances[0])
            try await whenAvailable { try await loop.round() }
            let upload = try await pair.upload(SamplePicture.png.bytes)
            let picture = try CleanPicture(Data(SamplePicture.png.bytes)).id
            let status = try await Self.setStatus(nil, upload, of: "ann", on: pair)
            let seen = [(account: status.id, id: status.status)]
            try await pair.make { try $0.see(seen, as: "bob") }
            let (unused, kept) = (
                try await pair.upload(SamplePicture.webp.bytes), try await pair.upload(SamplePicture.jpeg.bytes)
            )
            try await pair.make { _ = try $0.use(kept, of: "ann", for: .message, expires: nil) }
            pair.clock.pass(1_000)
            let later = try await Self.setStatus("later", of: "bob", on: pair)
            pair.clock.pass(MessagingLimits.statusTime - 1_001)
            try await whenAvailable { try await loop.round() }
            #expect(try await Self.left(in: pair.store).sorted() == ["ann", "bob"])
            pair.clock.pass(1)
            try await whenAvailable { try await loop.round() }
            #expect(try await Self.left(in: pair.store) == [later.id])
            let (uses, bytes) = try await pair.store.snapshot { transaction in
                (
                    try transaction.scan(MessagingStore.uses, limit: 10).documents.map(\.document.id),
                    try transaction.bytes(of: picture)
                )
            }
            #expect(uses == [kept] && bytes == nil && unused != kept)
            #expect(try await pair.problems() == [])
        }
    }

    @Test("A status of a backup is seen by nobody and goes, with its picture and who has seen it", arguments: StoreKind.ofRules)
    func restored(kind: StoreKind) async throws {
        try await PictureInstances.with(kind) { pair in
            let upload = try await pair.upload(SamplePicture.png.bytes)
            let status = try await Self.setStatus(nil, upload, of: "ann", on: pair)
            let seen = [(account: status.id, id: status.status)]
            try await pair.make { try $0.see(seen, as: "bob") }
            let other = try await Self.setStatus("new", of: "cleo", on: pair)
            let now = pair.clock.now
            try await pair.make { change in
                try change.transaction.update("ann", in: MessagingStore.statuses) { $0.restored = now }
            }
            let hidden = try await pair.store.snapshot { transaction in
                try transaction.statuses(of: ["ann", "cleo"], for: "bob", at: now).statuses.map(\.id)
            }
            #expect(hidden == [other.status])
            try await whenAvailable { try await StatusLoop(changes: pair.instances[0]).round() }
            #expect(try await Self.left(in: pair.store) == ["cleo"])
            let (views, uses) = try await pair.store.snapshot { transaction in
                (
                    try transaction.count(MessagingStore.views, upTo: 10), try transaction.count(MessagingStore.uses, upTo: 10)
                )
            }
            #expect(views == 0 && uses == 0)
        }
    }

    @Test("Of very many that end in the same moment, a round removes a part")
    func many() async throws {
        try await PictureInstances.with(.sqlite) { pair in
            let now = pair.clock.now
            let end = now + 1_000
            let names = (0..<2_300).compactMap { AccountName("person-\($0)") }
            let statuses = names.map { name -> StatusDocument in
                StatusDocument(
                    id: name.key, status: ObjectID(), name: name, text: "x", picture: nil, at: now, expires: end, seen: 0,
                    restored: nil, request: nil)
            }
            try await pair.make { try $0.transaction.insert(all: statuses, into: MessagingStore.statuses) }
            pair.clock.pass(1_000)
            let loop = StatusLoop(changes: pair.instances[0])
            var counts: [Int] = []
            for _ in 0..<3 {
                try await loop.round()
                counts.append(try await Self.left(in: pair.store).count)
            }
            #expect(counts == [300, 0, 0])
        }
    }

    @Test("Statuses that are set, seen and ended in the same moment leave right counts", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        let rounds = Level.isAll ? 100 : kind == .sqlite ? 16 : 6
        try await PictureInstances.with(kind) { pair in
            try await concurrently(4) { worker in
                var random = SeededGenerator(seed: UInt64(worker))
                let loop = StatusLoop(changes: pair.instances[worker % 2])
                let viewer = try #require(AccountName("viewer-\(worker)"))
                for _ in 0..<rounds {
                    let owner: AccountName = Bool.random(using: &random) ? "ann" : "bob"
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        let command = SetStatus(StatusDraft(text: "by \(worker)"))
                        try await pair.make(on: worker) { _ = try $0.setStatus(command, of: owner) }
                    case 1:
                        // Some end in each run.
                        pair.clock.pass(.seconds(8 * 3_600))
                        try await whenAvailable { try await loop.round() }
                    default:
                        let now = pair.clock.now
                        let found = try await whenAvailable {
                            try await pair.store.snapshot { try $0.status(of: owner.key, at: now) }
                        }
                        guard let found else { continue }
                        let seen = [(account: found.id, id: found.status)]
                        try await pair.make(on: worker) { try $0.see(seen, as: viewer) }
                    }
                }
            }
            let (statuses, views) = try await whenAvailable {
                try await pair.store.snapshot { transaction in
                    (
                        try transaction.scan(MessagingStore.statuses, limit: 10).documents.map(\.document),
                        try transaction.scan(MessagingStore.views, limit: 1_000).documents.map(\.document)
                    )
                }
            }
            for status in statuses where status.isThere(at: pair.clock.now) {
                #expect(views.count { $0.status == status.status } == status.seen)
            }
            // Who has seen a status that is gone expires with it.
            let known = Set(statuses.map(\.status))
            #expect(views.filter { $0.expires > pair.clock.now && !known.contains($0.status) } == [])
        }
    }
}
