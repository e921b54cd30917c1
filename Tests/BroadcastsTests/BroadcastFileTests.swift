import Dispatch
import Base
import FCM
import FoundationEssentials
import Glibc
import Schemas
import Store
import TestSupport
import Testing

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
        checkPeriod: Duration = .seconds(60), at path: (_ folder: String) -> String,
        during body: (BroadcastLog, BroadcastFile, _ path: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let place = StoragePlace(database: nil, folder: folder)
            let store = try await Storage.open(BroadcastStore.declaration, at: place, logger: quietLogger)
            let log = BroadcastLog(store: store, language: "en", payloadLimit: .topic) { _ in }
            let file = BroadcastFile(
                at: path(folder), version: store.repeatedSnapshot { try $0.broadcastsVersion() },
                current: { try await log.current() }, checkPeriod: checkPeriod, logger: quietLogger)
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

    @Test("It has what has begun, after each change and each beginning, and everyone may read it")
    func changes() async throws {
        try await Self.keeping {
            $0 + "/broadcasts.json"
        } during: { log, file, path in
            try await eventually("it is there") { try Self.read(path)?.broadcasts.isEmpty == true }
            let now = try await log.add(AddBroadcast(Self.draft("Now")), sender: "ann", by: Self.ann).broadcast
            let soon = Self.draft("Soon", epoch: BroadcastEpoch(.now + .seconds(3)))
            let scheduled = try await log.add(AddBroadcast(soon), sender: "ann", by: Self.ann).broadcast
            try await eventually("it has the one that has begun") { try Self.read(path)?.broadcasts.first?.id == now.id }
            try await eventually("it has both") {
                let ids = try Self.read(path)?.broadcasts.map(\.id)
                // Nobody reads one before its time.
                #expect(ids?.contains(scheduled.id) != true || UnixMilliseconds.now >= scheduled.starts)
                return ids == [now.id, scheduled.id]
            }
            _ = try await log.withdraw(WithdrawBroadcast(now.id), by: Self.ann)
            try await eventually("it says what was withdrawn") { try Self.read(path)?.withdrawn.map(\.id) == [now.id] }
            #expect(try Self.read(path)?.broadcasts.map(\.id) == [scheduled.id])
            // Moved to a later time, the version that phones have is over.
            let later = Self.draft("Later", epoch: BroadcastEpoch(.now + .seconds(3_600)))
            _ = try await log.update(UpdateBroadcast(scheduled.id, later), by: Self.ann)
            try await eventually("the earlier version is over") {
                try Self.read(path)?.withdrawn.contains { $0.id == scheduled.id && $0.version == 1 } == true
            }
            #expect(try Self.read(path)?.broadcasts.isEmpty == true)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
            #expect(file.health["file"]?.isWell == true)
        }
    }

    @Test("A draft that a killed writer has left goes, and files of others stay")
    func oldDrafts() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/broadcasts.json"
            func make(_ name: String, age: Int) throws {
                try Data("x".utf8).write(to: URL(filePath: folder + "/" + name))
                let moment = timespec(tv_sec: time(nil) - age, tv_nsec: 0)
                #expect(utimensat(AT_FDCWD, folder + "/" + name, [moment, moment], 0) == 0)
            }
            try make("broadcasts.json.abc.draft", age: 3_600)
            try make("broadcasts.json.def.draft", age: 0)
            try make("broadcasts.json.gz", age: 3_600)
            try make("other.json.abc.draft", age: 3_600)
            DurableFiles.removeOldDrafts(of: path)
            try DurableFiles.replace(path, "{}", isPublic: true)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "broadcasts.json", "broadcasts.json.def.draft", "broadcasts.json.gz", "other.json.abc.draft",
                ])
        }
    }

    @Test("Without its folder the error names the file and the folder")
    func missingFolder() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/none/broadcasts.json"
            let error = #expect(throws: DurableFileFailure.self) {
                try DurableFiles.replace(path, "{}", isPublic: true)
            }
            let place = "\(path) cannot be made, since there is no folder \(folder)/none"
            #expect(error?.description == "\(place): No such file or directory")
        }
    }

    @Test("A disk that hangs is seen, and does not keep the process")
    func hangingDisk() async throws {
        let file = BroadcastFile(
            at: "/none/broadcasts.json", version: { .none },
            current: { ReadCurrentBroadcasts.Reply(version: .none, broadcasts: [], withdrawn: []) },
            maxBusy: .milliseconds(50), logger: quietLogger)
        let end = DispatchSemaphore(value: 0)
        let work = Task { try await file.onDisk { end.wait() } }
        try await eventually("the health says so") { file.health["file"]?.isWell == false }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        // It returns while the disk hangs.
        await file.close()
        #expect(file.health["file"]?.isWell == false)
        end.signal()
        try await eventually("it is well again") { file.health["file"]?.isWell == true }
    }

    @Test("A file that was removed, or that another program has written, is written again", arguments: [true, false])
    func replaced(isRemoved: Bool) async throws {
        try await Self.keeping(checkPeriod: .milliseconds(50)) {
            $0 + "/broadcasts.json"
        } during: { _, _, path in
            try await eventually("it is there") { try Self.read(path) != nil }
            if isRemoved {
                #expect(unlink(path) == 0)
            } else {
                try DurableFiles.replace(path, "old")
            }
            try await eventually("it is written again") { (try? Self.read(path))?.broadcasts.isEmpty == true }
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
