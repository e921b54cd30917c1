import Base
import Foundation
import Glibc
import Logging
import Schemas
import TestSupport
import Testing

@testable import ServiceKit

/// Log lines on their way to a file, a pipe or a terminal.
@Suite("The writer of lines", .timeLimit(.minutes(10)))
struct LineWriterTests {
    private static func append(_ text: String, isUrgent: Bool = false, to writer: LineWriter) {
        var line = JSONBytes(capacity: 16)
        line.append(characters: text + "\n")
        writer.append(line, isUrgent: isUrgent) { Array("dropped \($0)\n".utf8) }
    }

    private static func withFile(_ body: (LineWriter, _ lines: () -> [Substring]) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/log"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            let writer = LineWriter(descriptor: descriptor)
            try await body(writer) {
                String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self).split(separator: "\n")
            }
            writer.flush(evenIfHanging: true)
            close(descriptor)
        }
    }

    @Test("The lines of several threads stay whole and in each thread's order, and after a flush all of them are written")
    func order() async throws {
        try await Self.withFile { writer, lines in
            try await concurrently(8) { thread in
                for number in 0..<2_000 { Self.append("\(thread) \(number)", to: writer) }
            }
            writer.flush(evenIfHanging: true)
            let found = lines()
            #expect(found.count == 16_000)
            for thread in 0..<8 {
                let own = found.filter { $0.hasPrefix("\(thread) ") }
                #expect(own == (0..<2_000).map { "\(thread) \($0)" })
            }
            #expect(writer.droppedLines == 0)
        }
    }

    @Test("A line is written without a flush, and a line of any length is")
    func soon() async throws {
        try await Self.withFile { writer, lines in
            let long = String(repeating: "x", count: 100_000)
            for text in ["one", long, "two"] {
                Self.append(text, to: writer)
                try await eventually { lines().last.map(String.init) == text }
            }
            for text in ["three", long, long, "four"] { Self.append(text, to: writer) }
            try await eventually { lines().map(String.init) == ["one", long, "two", "three", long, long, "four"] }
        }
    }

    @Test("An urgent line, and those before it, are written when the call returns; lines of errors are urgent")
    func urgent() async throws {
        try await Self.withFile { writer, lines in
            for number in 0..<200 {
                Self.append("before \(number)", to: writer)
                Self.append("urgent \(number)", isUrgent: true, to: writer)
                #expect(lines().suffix(2) == ["before \(number)", "urgent \(number)"])
            }
            let output = LineOutput(line: TextLogLine.self, writer: writer)
            for level in [Logger.Level.warning, .error, .critical] {
                output.write(
                    LogEntry(
                        time: 0, level: level, service: "msi-cube", message: "m", fields: [], file: #fileID, line: #line,
                        function: #function))
                guard level >= .error else { continue }
                #expect(lines().last == "1970-01-01T00:00:00.000Z \(level) msi-cube: m")
            }
        }
    }

    @Test("A reader that hangs stops no caller: lines are dropped and counted, and the reader gets the count when it reads again")
    func hangingReader() async throws {
        let pipe = try OneWayPipe()
        let writer = LineWriter(descriptor: pipe.writer, maxWaiting: 65_536)
        var kept: [String] = []
        var number = 0
        while writer.droppedLines < 100 {
            let (text, before) = ("line \(number)", writer.droppedLines)
            // The reader hangs: even urgent lines do not wait for it.
            Self.append(text, isUrgent: number % 1_000 == 0, to: writer)
            if writer.droppedLines == before { kept.append(text) }
            number += 1
            try #require(number < 1_000_000)
        }
        var lines = try await pipe.readLines { $0.last == kept.last }
        Self.append("later", to: writer)
        lines += try await pipe.readLines { $0.last == "later" }
        let reports = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }
        #expect(reports.reduce(0, +) == 100 && writer.droppedLines == 100)
        #expect(lines.suffix(2).first?.hasPrefix("dropped ") == true)
        #expect(lines.filter { !$0.hasPrefix("dropped ") } == kept + ["later"])
    }

    @Test("An urgent line whose reader hangs is kept, and its caller continues")
    func urgentWhileHanging() async throws {
        let pipe = try OneWayPipe()
        let writer = LineWriter(descriptor: pipe.writer)
        // More than a pipe takes.
        for number in 0..<30_000 { Self.append("line \(number)", to: writer) }
        Self.append("urgent", isUrgent: true, to: writer)
        #expect(writer.droppedLines == 0)
        let lines = try await pipe.readLines { $0.last == "urgent" }
        #expect(lines.count == 30_001)
    }

    @Test("A pipe that another program has made non-blocking gets every line")
    func nonBlocking() async throws {
        let pipe = try OneWayPipe()
        try #require(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0)
        let writer = LineWriter(descriptor: pipe.writer)
        for number in 0..<30_000 { Self.append("line \(number)", to: writer) }
        let lines = try await pipe.readLines { $0.count >= 30_000 }
        #expect(lines == (0..<30_000).map { "line \($0)" } && writer.droppedLines == 0)
    }

    @Test("Lines that cannot be written are counted, and the first line that can be is preceded by their number")
    func failingWrites() async throws {
        let pipe = try OneWayPipe()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        let descriptor = dup(full)
        try #require(full >= 0 && descriptor >= 0)
        close(full)
        let writer = LineWriter(descriptor: descriptor)
        for number in 0..<10 { Self.append("lost \(number)", isUrgent: number == 9, to: writer) }
        #expect(writer.droppedLines == 10)
        // There is room again.
        try #require(dup2(pipe.writer, descriptor) == descriptor)
        Self.append("kept", to: writer)
        #expect(try await pipe.readLines { $0.last == "kept" } == ["dropped 10", "kept"])
        writer.flush(evenIfHanging: true)
        close(descriptor)
    }
}

/// A pipe whose reader decides when it reads.
private final class OneWayPipe {
    let writer: Int32
    private let reader: Int32
    private var rest: [UInt8] = []

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        try #require(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Reads lines until a condition holds for them.
    func readLines(until isComplete: ([String]) -> Bool) async throws -> [String] {
        let lineBreak = UInt8(ascii: "\n")
        var lines: [String] = []
        try await eventually("the lines") {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while !isComplete(lines), case let got = read(reader, &buffer, buffer.count), got > 0 {
                rest += buffer.prefix(got)
                let whole = rest.lastIndex(of: lineBreak).map { $0 + 1 } ?? 0
                lines += rest[..<whole].split(separator: lineBreak).map { String(decoding: $0, as: UTF8.self) }
                rest.removeFirst(whole)
            }
            return isComplete(lines)
        }
        return lines
    }
}
