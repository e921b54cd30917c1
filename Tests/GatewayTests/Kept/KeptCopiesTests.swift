import CommandBus
import FoundationEssentials
import JSON
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Time

@testable import Gateway

/// The file with the gateway's copies.
@Suite("Kept copies", .timeLimit(.minutes(10)))
struct KeptCopiesTests {
    /// Runs a part of a test while the copies are kept in a state directory, and stops gracefully.
    private func withKept(
        _ copies: CopiesAlone, in folder: String, log: RecordedLog = RecordedLog(), _ body: () async throws -> Void
    ) async throws {
        let kept = KeptCopies(
            in: folder, credentials: copies.credentials, cube: copies.cube, broadcasts: copies.broadcasts, logger: log.logger)
        let group = ServiceGroup(configuration: .init(services: [kept], logger: quietLogger))
        let running = Task { try await group.run() }
        try await perform(body) {
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }

    /// The copies of credentials in the file; `nil` while there is none.
    private func kept(in folder: String) throws -> KeptCredentials? {
        guard let data = FileManager.default.contents(atPath: folder + "/gateway.json") else { return nil }
        return try JSONCoder.decode(KeptDocument.self, from: data).people
    }

    @Test("A sign-out that the people service does not know of is in the file when it succeeds")
    func signOut() async throws {
        try await CopiesAlone.with { copies, folder in
            let ann = try Principal.sample(.communicator)
            copies.add(ann)
            try await withKept(copies, in: folder) {
                try await eventually("the first file") { try kept(in: folder)?.credentials.isEmpty == false }
                try await copies.credentials.signOut(ann.hash, for: .init(actor: ann.actor))
                #expect(try kept(in: folder)?.signOuts.map(\.hash) == [ann.hash])
                #expect(try kept(in: folder)?.credentials == [])
            }
        }
    }

    @Test("A gateway whose file another gateway replaces says so once")
    func commonFolder() async throws {
        try await CopiesAlone.with { first, folder in
            try await CopiesAlone.with { second, _ in
                let (ann, bob) = (try Principal.sample(.communicator), try Principal.sample(.communicator, "bob"))
                for copies in [first, second] {
                    for principal in [ann, bob] { copies.add(principal) }
                }
                let log = RecordedLog()
                try await withKept(first, in: folder, log: log) {
                    try await eventually("the first file") { try kept(in: folder)?.credentials.count == 2 }
                    try await first.credentials.signOut(bob.hash, for: .init(actor: bob.actor))
                    #expect(log.lines.isEmpty)
                    try await withKept(second, in: folder) {
                        try await eventually("the other file") { try kept(in: folder)?.signOuts.isEmpty == true }
                        try await first.credentials.signOut(ann.hash, for: .init(actor: ann.actor))
                    }
                }
                #expect(log.lines.filter { $0.text.contains("another gateway") }.count == 1)
            }
        }
    }

    @Test("A sign-out that can be stored nowhere fails, and counts at this gateway")
    func signOutNowhere() async throws {
        try await CopiesAlone.with { copies, folder in
            let ann = try Principal.sample(.communicator)
            copies.add(ann)
            let state = folder + "/state"
            try Data().write(to: URL(filePath: state))
            try await withKept(copies, in: state) {
                await #expect(throws: CommandFailure.self) {
                    try await copies.credentials.signOut(ann.hash, for: .init(actor: ann.actor))
                }
                #expect(copies.credentials.copy(of: ann.hash) == .unknown)
                try FileManager.default.removeItem(atPath: state)
                try await eventually("the sign-out") { try kept(in: state)?.signOuts.map(\.hash) == [ann.hash] }
            }
        }
    }

    @Test("On a full disk the old copies make room for the ends", .enabled(if: SmallDisk.isPossible))
    func fullDisk() async throws {
        try await SmallDisk.with(megabytes: 2) { disk in
            try await CopiesAlone.with { copies, _ in
                let (ann, bob) = (try Principal.sample(.communicator), try Principal.sample(.communicator, "bob"))
                for principal in [ann, bob] { copies.add(principal) }
                try await withKept(copies, in: disk.folder) {
                    try await eventually("the first file") { try kept(in: disk.folder)?.credentials.count == 2 }
                    try disk.fill()
                    try await copies.credentials.signOut(ann.hash, for: .init(actor: ann.actor))
                    #expect(try kept(in: disk.folder)?.signOuts.map(\.hash) == [ann.hash])
                    // What the people service has ended.
                    try await copies.credentials.change(.credential(bob.hash), ends: true) {}
                    #expect(try kept(in: disk.folder)?.credentials == [])
                }
            }
        }
    }

    @Test("A graceful stop writes the latest changes")
    func stop() async throws {
        try await CopiesAlone.with { copies, folder in
            let ann = try Principal.sample(.communicator)
            let signOut = PendingSignOut(hash: ann.hash, actor: nil, address: nil)
            copies.add(ann)
            try await withKept(copies, in: folder) {
                try await eventually("the first file") { try kept(in: folder) != nil }
                _ = copies.credentials.signOuts.withLock { $0.add(signOut) }
            }
            #expect(try kept(in: folder)?.signOuts == [signOut])
        }
    }

    @Test("A write that has failed is tried again a moment later, and logged once")
    func failure() async throws {
        try await CopiesAlone.with { copies, folder in
            copies.add(try .sample(.communicator))
            let state = folder + "/state"
            try Data().write(to: URL(filePath: state))
            let log = RecordedLog()
            try await withKept(copies, in: state, log: log) {
                try await eventually("a failure") { !log.louderThanDebug.isEmpty }
                try FileManager.default.removeItem(atPath: state)
                // Much sooner than unchanged copies are written again.
                try await eventually("the file") { try kept(in: state) != nil }
            }
            #expect(log.louderThanDebug.count == 1, "\(log.louderThanDebug)")
        }
    }
}
