import Foundation
import Glibc
import Base
import Logging
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// Log events in systemd's journal, by its native protocol. One test after another: the count of dropped events is the process's.
@Suite("The journal", .serialized, .timeLimit(.minutes(10)))
struct JournalTests {
    private static func entry(
        _ message: String = "accepted", level: Logger.Level = .warning, _ fields: [(key: String, value: String)] = []
    ) -> LogEntry {
        LogEntry(
            time: .now, level: level, service: "msi-cube", message: message, fields: fields, file: "Cube/Main.swift", line: 7,
            function: "run()")
    }

    @Test("An event has a field for each key; a value with line breaks is preceded by its length, and can forge no field")
    func fields() throws {
        let entry = JournalEntry(
            Self.entry("no \"answer\"\nPRIORITY=0", [("msi_key", "0123"), ("trace_id", "4bf9"), ("error", "one\nPRIORITY=0\n")]))
        let fields = try JournalFields(entry.bytes)
        #expect(
            fields.names.sorted() == [
                "CODE_FILE", "CODE_FUNC", "CODE_LINE", "MESSAGE", "MSI_ERROR", "MSI_KEY", "MSI_TRACE_ID", "PRIORITY",
                "SYSLOG_IDENTIFIER",
            ])
        #expect(fields["MSI_KEY"] == "0123" && fields["MSI_TRACE_ID"] == "4bf9" && fields["MSI_ERROR"] == "one\nPRIORITY=0\n")
        #expect(fields["PRIORITY"] == "4" && fields["SYSLOG_IDENTIFIER"] == "msi-cube" && fields["CODE_LINE"] == "7")
        #expect(fields["MESSAGE"]?.hasPrefix(#"no "answer"\u{a}PRIORITY=0 msi_key=0123"#) == true)
    }

    @Test("Names of fields have only the journal's characters, and a length that it takes")
    func names() {
        #expect(JournalEntry.name(of: "msi_key") == "MSI_KEY")
        #expect(JournalEntry.name(of: "trace_id") == "MSI_TRACE_ID")
        #expect(JournalEntry.name(of: "ä b-c.9=\n") == "MSI____B_C_9__")
        #expect(JournalEntry.name(of: String(repeating: "x", count: 200)).count == 64)
    }

    @Test("A very long value is cut")
    func long() {
        let fields = [("a", String(repeating: "x", count: 1 << 20)), ("b", String(repeating: "\n", count: 1 << 20))]
        #expect(JournalEntry(Self.entry("long", fields.map { (key: $0, value: $1) })).bytes.count < 16_000)
    }

    @Test("A descriptor is the journal's if the service manager names its device and inode")
    func stream() async throws {
        try await withTemporaryFolder { folder in
            let descriptor = open(folder + "/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/file")
            let device = try #require(attributes[.systemNumber] as? Int)
            let inode = try #require(attributes[.systemFileNumber] as? Int)
            #expect(JournalOutput.isJournal(descriptor, stream: "\(device):\(inode)"))
            for other in [nil, "", "\(device):\(inode + 1)", "\(inode)"] {
                #expect(!JournalOutput.isJournal(descriptor, stream: other))
            }
        }
    }

    /// Writes lines until the receiver is full, and 99 more.
    ///
    /// - Returns: How many there were with the first one that was dropped.
    private static func writeTooMuch(to output: JournalOutput) throws -> Int {
        let droppedBefore = JournalOutput.droppedEvents
        var written = 0
        while JournalOutput.droppedEvents == droppedBefore {
            output.write(entry("line \(written)"))
            written += 1
            try #require(written < 1_000_000)
        }
        for _ in 0..<99 { output.write(entry("lost")) }
        return written
    }

    @Test(
        "A journal that is too slow does not stop a service: lines are dropped and counted, and the journal gets the count later")
    func slow() async throws {
        try await withTemporaryFolder { folder in
            let journal = try DatagramSocket(at: folder + "/socket")
            let stream = try StreamSocket()
            let output = try #require(JournalOutput(path: folder + "/socket", stream: stream.output))
            let written = try Self.writeTooMuch(to: output)
            let received = try journal.receiveAll()
            #expect(received.count == written - 1)
            output.write(Self.entry("later"))
            let later = try journal.receiveAll()
            #expect(later.compactMap { $0["MSI_LINES"] } == ["100"])
            #expect(later.last?["MESSAGE"] == "later" && later.count == 2)
            #expect(try stream.receiveLines().isEmpty)
        }
    }

    @Test("Without a journal, lines go to standard error, and to the journal again once there is one")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            let stream = try StreamSocket()
            let output = try #require(JournalOutput(path: folder + "/socket", stream: stream.output))
            output.write(Self.entry("before"))
            #expect(try stream.receiveLines().map { $0["message"] } == ["before"])
            do {
                let journal = try DatagramSocket(at: folder + "/socket")
                output.write(Self.entry("now"))
                #expect(try journal.receiveAll().map { $0["MESSAGE"] } == ["now"])
            }
            output.write(Self.entry("after"))
            #expect(try stream.receiveLines().map { $0["message"] } == ["after"])
        }
    }

    @Test("A standard error that nothing reads does not stop a service: lines are dropped, and it gets their count later")
    func silentStream() async throws {
        try await withTemporaryFolder { folder in
            let stream = try StreamSocket()
            let output = try #require(JournalOutput(path: folder + "/socket", stream: stream.output))
            let written = try Self.writeTooMuch(to: output)
            #expect(try stream.receiveLines().count == written - 1)
            output.write(Self.entry("later"))
            let later = try stream.receiveLines()
            #expect(later.map { $0["message"] } == ["log lines were dropped: the journal did not take them", "later"])
            #expect(later.first?["lines"] == "100")
        }
    }

    @Test("A line that standard error has taken in part is counted as dropped, and the next one begins a new line")
    func partialLine() throws {
        let stream = try StreamSocket()
        let long = Self.entry("long", (0..<400).map { ("key\($0)", String(repeating: "x", count: 900)) })
        #expect(!stream.output.hasTaken(long))
        #expect(throws: (any Error).self, "a part of a line") { try stream.receiveLines() }
        #expect(stream.output.hasTaken(Self.entry("next")))
        #expect(try stream.receiveLines().map { $0["message"] } == ["next"])
    }

    @Test("An event that is too large for a datagram goes to standard error")
    func tooLarge() async throws {
        try await withTemporaryFolder { folder in
            let journal = try DatagramSocket(at: folder + "/socket")
            let stream = try StreamSocket()
            let output = try #require(JournalOutput(path: folder + "/socket", stream: stream.output))
            output.write(Self.entry("large", (0..<60).map { ("key\($0)", String(repeating: "x", count: 5_000)) }))
            #expect(try stream.receiveLines().map { $0["message"] } == ["large"])
            #expect(try journal.receiveAll().isEmpty)
        }
    }
}

/// The stream that is a service's standard error: what its reader gets.
private final class StreamSocket {
    let output: JournalStream
    private let ends: (service: Int32, journal: Int32)

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        self.ends = (ends[0], ends[1])
        output = JournalStream(descriptor: ends[0])
    }

    deinit {
        close(ends.service)
        close(ends.journal)
    }

    /// The lines that have arrived.
    func receiveLines() throws -> [JSONValue] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = recv(ends.journal, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            bytes += buffer.prefix(count)
        }
        return try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONCoder.decode(JSONValue.self, from: Data($0)) }
    }
}

/// The journal's side: a datagram socket in the file system.
private final class DatagramSocket {
    private let descriptor: Int32

    init(at path: String) throws {
        unlink(path)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = try #require(sockaddr_un(path: path))
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
    }

    deinit { close(descriptor) }

    /// The entries that have arrived.
    func receiveAll() throws -> [JournalFields] {
        var entries: [JournalFields] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            entries.append(try JournalFields(Array(buffer.prefix(count))))
        }
        return entries
    }
}

/// An entry as journald reads it.
private struct JournalFields {
    private var values: [String: String] = [:]

    var names: [String] { Array(values.keys) }

    subscript(name: String) -> String? { values[name] }

    init(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(name.count)
            let value: ArraySlice<UInt8>
            if rest.popFirst() == UInt8(ascii: "=") {
                value = rest.prefix { $0 != UInt8(ascii: "\n") }
            } else {
                let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(8)
                value = rest.prefix(length)
            }
            rest = rest.dropFirst(value.count)
            try #require(rest.popFirst() == UInt8(ascii: "\n"))
            let previous = values.updateValue(
                String(decoding: value, as: UTF8.self), forKey: String(decoding: name, as: UTF8.self))
            try #require(previous == nil)
        }
    }
}
