import Base
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// The log of removed messages.
@Suite("The log of removed messages", .timeLimit(.minutes(10)))
struct TombstoneTests {
    private static let one = String(repeating: "a", count: 32)
    private static let other = String(repeating: "b", count: 32)
    private static let now: UnixMilliseconds = 1_796_000_000_000
    private static let weeks = Milliseconds.seconds(35 * 86_400)

    private static func with(_ body: (RemovedMessages, String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let log = RemovedMessages(stateDirectory: folder)
            try await perform {
                try await body(log, log.path)
            } finally: {
                await log.close()
            }
        }
    }

    private static func line(_ place: String, _ number: Int64) -> RemovedMessages.Line {
        RemovedMessages.Line(place: place, number: number)
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("Of each place the greatest number counts; the file is private, and has a time, a place and a number a line")
    func numbers() async throws {
        try await Self.with { log, path in
            #expect(try await log.numbers() == [:])
            try await log.append([], at: Self.now)
            #expect(!FileManager.default.fileExists(atPath: path))
            try await log.append([Self.line(Self.one, 7), Self.line(Self.other, 1_796_000_000_000)], at: Self.now)
            try await log.append([Self.line(Self.one, 5), Self.line(Self.one, 9)], at: Self.now + .seconds(1))
            #expect(try await log.numbers() == [Self.one: 9, Self.other: 1_796_000_000_000])
            let first = try #require(try Self.text(path).split(separator: "\n").first)
            #expect(first.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ a{32} 7/) != nil)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("A line behind the beginning of another one counts, and what is no line does not")
    func torn() async throws {
        try await Self.with { log, path in
            let half = "2026-11-25T03:00:00Z \(Self.one) 12"
            try "hello\n\n2026-11-25T03:00:00Z \(Self.one) seven\n2026 \(Self.one) 8\n\(half)".write(
                toFile: path, atomically: false, encoding: .utf8)
            try await log.append([Self.line(Self.other, 3)], at: Self.now)
            #expect(try await log.numbers() == [Self.other: 3])
        }
    }

    @Test("Only the greatest numbers of the last five weeks stay, and the file does not grow without bound")
    func compact() async throws {
        try await Self.with { log, path in
            try await log.compact(at: Self.now)
            #expect(try Self.text(path).isEmpty)
            try await log.append([Self.line(Self.other, 3)], at: Self.now - Self.weeks - .seconds(1))
            try await log.append([Self.line(Self.one, 1), Self.line(Self.one, 2)], at: Self.now - Self.weeks)
            try await log.compact(at: Self.now)
            #expect(try await log.numbers() == [Self.one: 2])
            #expect(try Self.text(path).utf8.count == 56)

            // A mebibyte and more, in which two places take turns.
            for start in stride(from: Int64(10), to: 30_000, by: 1_000) {
                let lines = (start..<start + 1_000).map { Self.line($0.isMultiple(of: 2) ? Self.one : Self.other, $0) }
                try await log.append(lines, at: Self.now)
            }
            #expect(try await log.numbers() == [Self.one: 30_008, Self.other: 30_009])
            #expect(try Self.text(path).utf8.count <= 1 << 20)
        }
    }

    @Test("Lines that several instances add while another one writes the file again are all there")
    func instances() async throws {
        try await withTemporaryFolder { folder in
            let logs = (0..<3).map { _ in RemovedMessages(stateDirectory: folder) }
            try await perform {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, log) in logs.enumerated() {
                        group.addTask {
                            for round in 0..<50 {
                                let place = String(repeating: "\(number)", count: 28) + "\(1_000 + round)"
                                try await log.append([RemovedMessages.Line(place: place, number: 1)], at: Self.now)
                                if round.isMultiple(of: 10) { try await log.compact(at: Self.now) }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await logs[0].numbers().count == 150)
            } finally: {
                for log in logs { await log.close() }
            }
        }
    }

    @Test("A file that cannot be written is a failure that names no folder")
    func unwritable() async throws {
        try await Self.with { log, path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let attempts: [@Sendable () async throws -> Void] = [
                { try await log.append([Self.line(Self.one, 1)], at: Self.now) },
                { try await log.compact(at: Self.now) },
                { _ = try await log.numbers() },
            ]
            for attempt in attempts {
                let failure = await #expect(throws: CommandFailure.self) { try await attempt() }
                #expect(failure?.status == .unavailable && failure?.message.contains("/") == false)
            }
        }
    }
}
