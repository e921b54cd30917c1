import Dispatch
import Store
import GRDB
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Archive

/// Pages that wait for a reader.
@Suite("Many readers of the history at once", .timeLimit(.minutes(10)))
struct HistoryReadersTests {
    private static func withDatabase(_ body: (EmbeddedDatabase) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(path: "\(folder)/db.sqlite", durability: .everyCommit) { _ in }
            try await body(database)
            try database.close()
        }
    }

    /// Occupies all readers, each with a page that waits for a signal.
    private static func occupy(
        _ readers: HistoryReaders, of database: EmbeddedDatabase, until release: DispatchSemaphore
    ) async throws -> [Task<Void, any Error>] {
        let reading = Count()
        let busy = (0..<3).map { _ in
            Task {
                try await readers.read(from: database, checkStillWanted: {}) { _ in
                    reading.add()
                    release.wait()
                }
            }
        }
        try await eventually { reading.value == 3 }
        return busy
    }

    @Test("A page whose reader was cancelled is not read when its turn comes, and the next one is")
    func givenUp() async throws {
        try await Self.withDatabase { database in
            let readers = HistoryReaders(maxTime: nil)
            let release = DispatchSemaphore(value: 0)
            let busy = try await Self.occupy(readers, of: database, until: release)
            let read = Count()
            let late = CommandFailure(.deadlineExceeded, "too late")
            let givenUp = (0..<10).map { _ in
                Task { try await readers.read(from: database, checkStillWanted: { throw late }) { _ in read.add() } }
            }
            let waiting = Task { try await readers.read(from: database, checkStillWanted: {}) { _ in true } }
            for _ in busy { release.signal() }
            for page in givenUp { await #expect(throws: late) { try await page.value } }
            #expect(try await waiting.value)
            #expect(read.value == 0)
            for page in busy { try await page.value }
        }
    }

    @Test("A page that takes too long is refused, and its reader is free for the next one")
    func tooLong() async throws {
        try await Self.withDatabase { database in
            let readers = HistoryReaders(maxTime: .milliseconds(50))
            let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            // More than there are readers.
            for _ in 0..<5 {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await readers.read(from: database, checkStillWanted: {}) { try Int.fetchOne($0, sql: endless) }
                }
                #expect(failure?.status == .deadlineExceeded)
            }
        }
    }

    @Test("The wait for a reader is part of the maximum time: a page whose time is over is not read")
    func waitCounts() async throws {
        try await Self.withDatabase { database in
            let maxTime = Duration.milliseconds(100)
            let readers = HistoryReaders(maxTime: maxTime)
            let release = DispatchSemaphore(value: 0)
            let read = Count()
            let busy = try await Self.occupy(readers, of: database, until: release)
            try await withThrowingTaskGroup(of: CommandFailure?.self) { group in
                for _ in 0...50 {
                    group.addTask {
                        await #expect(throws: CommandFailure.self) {
                            try await readers.read(from: database, checkStillWanted: {}) { _ in read.add() }
                        }
                    }
                }
                // It is one more than may wait, so all others wait now.
                let refused = try await group.next()
                #expect(refused??.status == .overloaded)
                try await Task.sleep(for: maxTime)
                for _ in busy { release.signal() }
                for try await failure in group { #expect(failure?.status == .overloaded) }
            }
            #expect(read.value == 0)
            for page in busy { _ = await page.result }
        }
    }
}

private final class Count: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func add() { count.add(1, ordering: .sequentiallyConsistent) }
}
