import Bus
import FoundationEssentials
import Base
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

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
        return try KeptDocument.read(data, from: "gateway.json").people
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

    @Test(
        "Of a file of a format that this version does not know, only the sign-outs are used, and the log has its name and both numbers"
    )
    func unknownFormat() async throws {
        try await CopiesAlone.with { copies, folder in
            let path = folder + "/gateway.json"
            let ann = try Principal.sample(.communicator)
            let signOut = PendingSignOut(hash: ann.hash, actor: "Ann", address: nil)
            let stored =
                #"{"format":2,"people":{"sign_outs":[\#(String(decoding: try JSONCoder.encode(signOut), as: UTF8.self))]}}"#
            try Data(stored.utf8).write(to: URL(filePath: path))
            let log = RecordedLog()
            let kept = KeptCopies(
                in: folder, credentials: copies.credentials, cube: copies.cube, broadcasts: copies.broadcasts, logger: log.logger)
            await kept.restore()
            #expect(
                log.louderThanDebug.contains { $0.contains("\(path) has the format 2") && $0.contains("it knows is 1") },
                "\(log.louderThanDebug)")
            #expect(copies.credentials.signOuts.withLock(\.all) == [signOut])
            // A gateway without copies cannot write, and keeps the other file.
            let bob = try Principal.sample(.communicator, "bob")
            await #expect(throws: CommandFailure.self) {
                try await copies.credentials.signOut(bob.hash, for: .init(actor: bob.actor))
            }
            #expect(FileManager.default.contents(atPath: path) == Data(stored.utf8))
            // An answer of the people service that does not know of the sign-out yet.
            copies.add(ann)
            #expect(copies.credentials.copy(of: ann.hash) == .unknown)
            let group = ServiceGroup(configuration: .init(services: [kept], logger: quietLogger))
            let running = Task { try await group.run() }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(try self.kept(in: folder)?.signOuts.map(\.hash) == [ann.hash, bob.hash])
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

    @Test("A write that has failed is tried again a moment later, and logged once, as is the end of the failures")
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
            #expect(log.louderThanDebug.map { $0.hasPrefix("over: ") } == [false, true], "\(log.louderThanDebug)")
        }
    }
}
