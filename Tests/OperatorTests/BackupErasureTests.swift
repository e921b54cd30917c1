import AuditTrail
import Base
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Operator

/// What backups and restores do about erased persons.
@Suite("Erased persons in backups", .timeLimit(.minutes(10)))
struct BackupErasureTests {
    /// An erasure, with the fields that a restore changes.
    private struct Erasure: StoredDocument, Hashable {
        let id: ObjectID
        var finished: UnixMilliseconds?
        var expires: UnixMilliseconds?
        var services: [String]

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case finished, expires, services
        }

        static let all = Collection<Erasure>(RepeatedErasures.collection)
    }

    /// A push to a person that waits.
    private struct Push: StoredDocument, Hashable {
        let id: String
        var at: UnixMilliseconds
        var restored: UnixMilliseconds?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case at, restored
        }

        static let all = Collection<Push>(PersonPushHold.collection)
    }

    /// A study session, with the fields that a restore looks at and changes.
    private struct Session: StoredDocument, Hashable {
        let id: ObjectID
        var open: Bool?
        var due: UnixMilliseconds?
        var restored: UnixMilliseconds?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case open, due, restored
        }

        static let all = Collection<Session>(StudyHold.sessions)
        static let pushes = Collection<Push>(StudyHold.pushes)
    }

    private static let store = StoreDeclaration("people", Erasure.all, Push.all)
    private static let studyStore = StoreDeclaration("study", Session.all, Session.pushes)
    private static let progress = ProgressLine()

    private func withStore(
        _ declaration: StoreDeclaration = Self.store, in folder: String, _ body: (Storage) async throws -> Void
    ) async throws {
        let store = try await Storage.open(declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
        try await perform {
            try await body(store)
        } finally: {
            try await store.close()
        }
    }

    private func line(_ digit: Character, at time: UnixMilliseconds = .now) -> ErasureLog.Line {
        ErasureLog.Line(at: time, digest: String(repeating: digit, count: 64))
    }

    private func digests(in folder: String) throws -> Set<String> {
        Set(try ErasureLog(stateDirectory: folder).lines().map(\.digest))
    }

    private func restore(_ backup: String, to folder: String) async throws -> ReadyRestore.Plan {
        let ready = try await ReadyRestore.prepare(
            try BackupManifest.read(in: backup), of: backup, in: folder, to: .sqlite, progress: Self.progress)
        _ = try await ready.finish(nil, progress: Self.progress)
        return ready.plan
    }

    @Test("The log keeps whole lines, also behind the beginning of another one, and each person once, with the earliest time")
    func log() async throws {
        try await withTemporaryFolder { folder in
            let (log, other) = (ErasureLog(stateDirectory: folder), ErasureLog(stateDirectory: folder + "/other"))
            try FileManager.default.createDirectory(atPath: folder + "/other", withIntermediateDirectories: false)
            #expect(try log.lines().isEmpty && !log.exists)
            try log.append([])
            #expect(log.exists)
            let (early, late) = (UnixMilliseconds(rawValue: 1_764_039_600_000), UnixMilliseconds(rawValue: 1_764_039_661_000))
            try "2025-11-25T03:0".write(toFile: log.path, atomically: false, encoding: .utf8)
            try log.append([line("a", at: late), line("b", at: early)])
            #expect(try log.lines() == [line("a", at: late), line("b", at: early)])
            #expect(try String(contentsOfFile: log.path, encoding: .utf8).hasSuffix("2025-11-25T03:00:00Z \(line("b").digest)\n"))

            try other.append([line("c", at: late), line("a", at: early)])
            try log.merge(other)
            try log.merge(other)
            #expect(try log.lines() == [line("a", at: early), line("b", at: early), line("c", at: late)])
            let mode = try FileManager.default.attributesOfItem(atPath: log.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("A restore adds the lines of the backup to those of the state directory; on a new machine it says what it cannot know")
    func merge() async throws {
        try await withTemporaryFolder { folder in
            let (one, backup, new) = (folder + "/one", folder + "/backup", folder + "/new")
            try await withStore(in: one) { _ in }
            try ErasureLog(stateDirectory: one).append([line("a", at: .now - .seconds(3_600))])
            let writer = BackupWriter(folder: one, database: nil, target: backup, progress: Self.progress)
            let manifest = try await writer.run()
            #expect(manifest.files.last?.name == ErasureLog.name)
            try ErasureLog(stateDirectory: one).append([line("b")])

            // On the same machine, over its data.
            let known = try #require(try await restore(backup, to: one).erasures)
            #expect(known == RestoredErasures(knowsLater: true, beside: 0) && known.lines(begun: "then").isEmpty)
            #expect(try digests(in: one) == [line("a").digest, line("b").digest])

            let unknown = try #require(try await restore(backup, to: new).erasures)
            #expect(!unknown.knowsLater)
            let said = unknown.lines(begun: "2026-11-25T03:00:00Z")
            #expect(said.count == 1 && said[0].hasPrefix("erasures after 2026-11-25T03:00:00Z are not known here: copy "))
            #expect(try digests(in: new) == [line("a").digest])

            // A new machine whose services have run already.
            let started = folder + "/started"
            try await withStore(in: started) { _ in }
            try ErasureLog(stateDirectory: started).append([])
            let other = try #require(try await restore(backup, to: started).erasures)
            #expect(!other.knowsLater)
            #expect(try digests(in: started) == [line("a").digest])
        }
    }

    @Test("The backup of a version without persons to erase changes nothing, and says nothing")
    func withoutLog() async throws {
        try await withTemporaryFolder { folder in
            try await withStore(in: folder + "/one") { _ in }
            let backup = folder + "/backup"
            _ = try await BackupWriter(folder: folder + "/one", database: nil, target: backup, progress: Self.progress).run()
            #expect(try await restore(backup, to: folder + "/new").erasures == nil)
            #expect(!ErasureLog(stateDirectory: folder + "/new").exists)
        }
    }

    @Test("Erasures that ended beside the backup, or have not ended, begin again, and pushes that wait are marked as restored")
    func beside() async throws {
        try await withTemporaryFolder { folder in
            let (one, backup, new) = (folder + "/one", folder + "/backup", folder + "/new")
            let now = UnixMilliseconds.now
            let later = now + .seconds(3_600)
            let old = Erasure(id: ObjectID(), finished: now - .seconds(3_600), expires: later, services: ["people"])
            let beside = Erasure(id: ObjectID(), finished: now + .seconds(1), expires: later, services: ["people"])
            let open = Erasure(id: ObjectID(), finished: nil, expires: nil, services: ["people", "message-log"])
            try await withStore(in: one) { store in
                for erasure in [old, beside, open] { try await store.insert(erasure, into: Erasure.all) }
                try await store.insert(Push(id: "push", at: now, restored: nil), into: Push.all)
            }
            // As if it was erased while the stores were copied.
            try ErasureLog(stateDirectory: one).append([line("a", at: later)])
            _ = try await BackupWriter(folder: one, database: nil, target: backup, progress: Self.progress).run()
            let restored = try #require(try await restore(backup, to: new).erasures)
            #expect(restored.beside == 1)
            #expect(restored.lines(begun: "then").last?.hasPrefix("1 person was erased beside the backup") == true)
            try await withStore(in: new) { store in
                #expect(try await store.get(old.id, from: Erasure.all)?.document == old)
                for erasure in [beside, open] {
                    let again = try #require(try await store.get(erasure.id, from: Erasure.all)?.document)
                    #expect(again == Erasure(id: erasure.id, finished: nil, expires: nil, services: []))
                }
                #expect(try await store.get("push", from: Push.all)?.restored != nil)
            }
        }
    }

    @Test("Study sessions that were open are marked as restored and due at once, and their pushes as restored; ended ones stay")
    func study() async throws {
        try await withTemporaryFolder { folder in
            let (one, backup, new) = (folder + "/one", folder + "/backup", folder + "/new")
            let open = Session(id: ObjectID(), open: true, due: .now + .seconds(600), restored: nil)
            let ended = Session(id: ObjectID(), open: nil, due: nil, restored: nil)
            try await withStore(Self.studyStore, in: one) { store in
                for session in [open, ended] { try await store.insert(session, into: Session.all) }
                try await store.insert(Push(id: "push", at: .now, restored: nil), into: Session.pushes)
            }
            _ = try await BackupWriter(folder: one, database: nil, target: backup, progress: Self.progress).run()
            let before = UnixMilliseconds.now
            _ = try await restore(backup, to: new)
            try await withStore(Self.studyStore, in: new) { store in
                let restored = try #require(try await store.get(open.id, from: Session.all)?.document)
                #expect(restored.open == true && restored.due == 0)
                #expect(restored.restored.map { $0 >= before } == true)
                #expect(try await store.get(ended.id, from: Session.all)?.document == ended)
                #expect(try await store.get("push", from: Session.pushes)?.restored == restored.restored)
            }
        }
    }
}
