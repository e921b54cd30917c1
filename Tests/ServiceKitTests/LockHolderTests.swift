import Base
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Who holds a lock.
@Suite("Lock holders")
struct LockHolderTests {
    @Test("The processes that hold a lock are named, also a stopped one, and one that has inherited the lock")
    func holders() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/lock"
            #expect(LockHolder.all(of: path).isEmpty)
            try Data().write(to: URL(filePath: path))
            #expect(LockHolder.all(of: path).isEmpty)
            let program = try await ChildProcess(
                URL(filePath: "/usr/bin/flock"), [path, "sleep", "600"], environment: [:], logFile: folder + "/output")
            let holders = try await eventually("a holder and its heir") {
                let holders = LockHolder.all(of: path)
                return holders.map(\.program).sorted() == ["flock", "sleep"] ? holders : nil
            }
            let heir = try #require(holders.first { $0.program == "sleep" })
            defer { kill(heir.process, SIGKILL) }
            #expect(holders.allSatisfy { !$0.isStopped })
            #expect(heir.description == "process \(heir.process) (sleep)")

            kill(heir.process, SIGSTOP)
            try await eventually("it is stopped") {
                LockHolder.all(of: path).contains { $0.process == heir.process && $0.isStopped }
            }
            await program.kill()
            let rest = LockHolder.all(of: path)
            #expect(
                rest.map(\.description) == ["process \(heir.process) (sleep), which is stopped: kill -CONT \(heir.process)"])
            #expect(rest.sentence == "The lock is held by \(rest[0])")
            // It was not taken: another process still holds it.
            #expect(throws: StateLockFailure.self) { try StateLock(file: "lock", .alone, in: folder, orElse: "in use") }
        }
    }

    @Test("A refusal names the process that holds the lock, and an open file without a lock is none")
    func refusal() async throws {
        try await withTemporaryFolder { folder in
            let other = open(folder + "/msi.lock", O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(other) }
            #expect(StateLock.holders(of: .control, in: folder).isEmpty)
            let lock = try StateLock(.control, .alone, in: folder, orElse: "in use")
            defer { lock.release() }
            // A program that another test starts has the lock's file as well, from its fork to its exec.
            #expect(StateLock.holders(of: .control, in: folder).contains { $0.process == getpid() })
            let refusal = #expect(throws: StateLockFailure.self) {
                try StateLock(.control, .alone, in: folder, orElse: "in use")
            }
            #expect(refusal?.description.hasPrefix("in use. The lock is held by process ") == true)
            #expect(refusal?.description.contains("process \(getpid())") == true)
        }
    }
}
