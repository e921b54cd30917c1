import FCM
import FoundationEssentials
import Glibc
import JSON
import Schemas
import Storage
import TestSupport
import Testing
import Time

@testable import Broadcasts

/// The file of the active broadcasts.
@Suite("The broadcasts' file", .timeLimit(.minutes(10)))
struct BroadcastFileTests {
    private static let ann = AuditAuthor(actor: "ann")

    private static func draft(_ title: String, epoch: BroadcastEpoch? = nil) -> BroadcastDraft {
        BroadcastDraft(
            type: .downtime, epoch: epoch, expiry: 60,
            actionData: BroadcastActionData(translations: ["en": .init(title: title, msg: "m")]),
            channels: ObjectID("5a0187feff0dafac2833f401").map { [$0] })
    }

    /// Runs a body while the file is kept at a path.
    private static func keeping(
        at path: (_ folder: String) -> String,
        during body: (BroadcastLog, BroadcastFile, _ path: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: nil, folder: folder)
            let store = try await Storage.open(BroadcastStore.declaration, at: place, logger: quietLogger)
            let log = BroadcastLog(store: store, language: "en", payloadLimit: .topic) { _ in }
            let file = BroadcastFile(
                at: path(folder), version: store.repeatedSnapshot { try $0.broadcastsVersion() },
                current: { try await log.current() }, logger: quietLogger)
            let running = Task { try await file.run() }
            try await perform {
                try await body(log, file, path(folder))
            } finally: {
                running.cancel()
                _ = await running.result
                await file.close()
                try await store.close()
            }
        }
    }

    private static func read(_ path: String) throws -> ActiveBroadcasts? {
        try FileManager.default.contents(atPath: path).map { try JSONCoder.decode(ActiveBroadcasts.self, from: $0) }
    }

    @Test("It has all broadcasts, also scheduled ones, after each change, and everyone may read it")
    func changes() async throws {
        try await Self.keeping {
            $0 + "/broadcasts.json"
        } during: { log, file, path in
            try await eventually("it is there") { try Self.read(path)?.broadcasts.isEmpty == true }
            let now = try await log.add(AddBroadcast(Self.draft("Now")), sender: "ann", by: Self.ann).broadcast
            let later = Self.draft("Later", epoch: BroadcastEpoch(.now + .seconds(3_600)))
            let scheduled = try await log.add(AddBroadcast(later), sender: "ann", by: Self.ann).broadcast
            try await eventually("it has both") { try Self.read(path)?.broadcasts.map(\.id) == [now.id, scheduled.id] }
            _ = try await log.withdraw(WithdrawBroadcast(now.id), by: Self.ann)
            try await eventually("it says what was withdrawn") { try Self.read(path)?.withdrawn.map(\.id) == [now.id] }
            #expect(try Self.read(path)?.broadcasts.map(\.id) == [scheduled.id])
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
            #expect(file.health["file"]?.isWell == true)
        }
    }

    @Test("While it cannot be written the health says so, and it is tried again")
    func failure() async throws {
        try await Self.keeping {
            $0 + "/later/broadcasts.json"
        } during: { _, file, path in
            try await eventually("the health says so") { file.health["file"]?.isWell == false }
            #expect(mkdir(String(path.dropLast("/broadcasts.json".count)), 0o700) == 0)
            try await eventually("it is written") { try Self.read(path) != nil && file.health["file"]?.isWell == true }
        }
    }
}
