import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

@testable import Operator

/// `msi trace`: the lines of the logs, and the text.
@Suite("The life of a message")
struct LifeTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let time = UnixMilliseconds(rawValue: 1_763_712_000_125)

    @Test("A line of each form is read with its time, and without what every line of a trace has")
    func lines() throws {
        let json = """
            {"level":"warning","message":"will be tried again","service":"msi-message-log","time":"2025-11-21T08:00:00.125Z",\
            "errors":"data: UNAVAILABLE","trace_id":"\(Self.trace)","span_id":"00f0","msi_key":"0123"}
            """
        let text = """
            2025-11-21T08:00:00.125Z warning msi-message-log: will be tried again errors="data: UNAVAILABLE" msi_key=0123 span_id=00f0 \
            trace_id=\(Self.trace)
            """
        let journal = """
            {"__REALTIME_TIMESTAMP":"1763712000125999","PRIORITY":"4","SYSLOG_IDENTIFIER":"msi-message-log","MSI_KEY":"0123",\
            "MESSAGE":"will be tried again errors=\\"data: UNAVAILABLE\\" msi_key=0123 span_id=00f0 trace_id=\(Self.trace)","X":null}
            """
        for record in [LogRecord(line: json), LogRecord(line: text), LogRecord(journal: journal)] {
            let record = try #require(record)
            #expect(record.time == Self.time && record.level == "warning" && record.service == "msi-message-log")
            #expect(record.text == #"will be tried again errors="data: UNAVAILABLE""#)
        }
        let bytes = #"{"__REALTIME_TIMESTAMP":"1763712000125999","PRIORITY":"6","SYSLOG_IDENTIFIER":"a","MESSAGE":[97,255,98]}"#
        #expect(LogRecord(journal: bytes)?.text == "a\u{FFFD}b")
        for other in ["", "{", "{}", "Fatal error: 7", #"{"time":"yesterday","message":"m"}"#, "a b c: d"] {
            #expect(LogRecord(line: other) == nil && LogRecord(journal: other) == nil)
        }
    }

    @Test("Only lines with one of the identifiers are read from a folder, including those of an older file")
    func folder() async throws {
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ lines: [String]) throws {
                try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: folder + "/" + name))
            }
            func line(_ service: String, _ message: String, _ key: String) -> String {
                "2025-11-21T08:00:00.125Z info \(service): \(message) msi_key=\(key)"
            }
            try write("msi-cube.log", [line("msi-cube", "other", "9999"), "", "msi-cube: no line about 0123", "0123"])
            try write("msi-gateway.log.1", [line("msi-gateway", "older", "0123"), ""])
            try write("msi-gateway.log", [line("msi-gateway", "newer", "0123")])
            try write("notes.txt", [line("msi-gateway", "not a log", "0123")])
            let found = try LogFolder(path: folder).records(with: ["0123", Self.trace])
            #expect(found.map(\.text).sorted() == ["newer", "older"])
            #expect(try LogFolder(path: folder).records(with: ["012"]).count == 2)
            #expect(throws: InputFailure.self) { try LogFolder(path: folder + "/none").records(with: ["0123"]) }
        }
    }

    @Test("A key is an identifier of a message or a push, a trace id in any of its forms, or nothing")
    func keys() throws {
        let trace = try #require(TraceID(Self.trace))
        let id = ObjectID()
        #expect(TraceKey(argument: id.description) == .item(id))
        for text in [
            Self.trace, Self.trace.uppercased(), "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "00-\(Self.trace)-00f067aa0ba902b7-01",
        ] {
            #expect(TraceKey(argument: text) == .trace(trace))
        }
        for text in ["", "4bf9", String(repeating: "0", count: 32), "\(Self.trace)0", "x\(Self.trace.dropFirst())"] {
            #expect(TraceKey(argument: text) == nil)
        }
    }

    private static func alert() -> Message {
        Message(
            msiKey: ObjectID(),
            content: MessageContent(
                title: "Closed\u{1B}[31m\nnow", desc: "d", message: "the text",
                topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: .alert),
            sender: "ann", timestamp: Self.time, names: CubeNames(channel: "C", area: "A", subject: "S"),
            expires: Self.time + 86_400_000, relay: RelayRecord(logged: .alert, due: Self.time))
    }

    @Test("A life has its lines in the order of time, and nothing foreign in it moves the cursor")
    func text() throws {
        var message = Self.alert()
        message.traceparent = "00-\(Self.trace)-00f067aa0ba902b7-01"
        message.receipts = MessageReceipts(received: 12, opened: 3)
        message.relay.state = .failed
        message.relay.attempts = 3
        message.relay.nextAttempt = nil
        message.relay.ended = Self.time + 5_000
        message.relay.trace = [Intervention(action: .retry, at: Self.time + 3_000, by: "bob", reason: "once more")]
        message.relay.components[0].state = .accepted
        message.relay.components[0].name = "projects/p/messages/0:15"
        message.relay.components[0].acceptedAt = Self.time + 4_000
        message.relay.components[1].state = .failed
        message.relay.components[1].error = DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "no such topic")
        var life = ItemLife(message: message)
        life.audit = [
            NumberedAuditEntry(
                number: 17, hash: "h",
                entry: AuditEntry(
                    at: Self.time + 1, by: AuditAuthor(actor: "ann", address: "192.0.2.7"), action: "message.send",
                    object: AuditObject(kind: "message", id: "\(message.msiKey)")))
        ]
        let line = try #require(LogRecord(line: "2025-11-21T08:00:02.125Z warning msi-message-log: will be tried again"))
        life.log = [ItemLife.Line(line)]
        let text = "\(LifeText(life: life, key: .item(message.msiKey), isArchiveKnown: true, isLogKnown: true))"
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "message \(message.msiKey): failed")
        #expect(!lines.contains { $0.contains("\u{1B}") } && lines.contains { $0.hasSuffix("Closed[31m now") })
        #expect(!lines.contains { $0.contains("the text") })
        for part in ["C / A / S", "projects/p/messages/0:15", "INVALID_ARGUMENT no such topic", Self.trace, "12 phones"] {
            #expect(lines.contains { $0.contains(part) }, "\(part)")
        }
        // The relay logs at any level that FCM does not accept a part.
        #expect(lines.last?.contains("no line of the relay: its log may be on another machine") == true, "\(lines)")
        let timeline = lines.dropLast().suffix(6)
        #expect(timeline.map { String($0.prefix(24)) } == timeline.map { String($0.prefix(24)) }.sorted())
        #expect(
            timeline.map { $0.dropFirst(39) } == [
                "posted by ann", "message.send by ann from 192.0.2.7 (entry 17)", "warning: will be tried again",
                "retry by bob: once more",
                "FCM has accepted the notification component", "ended: failed",
            ])

        message.relay.state = .retrying
        message.relay.components[1].state = .pending
        #expect(missingLines(message)?.contains("trimmed") == true)
        // It was not tried.
        message.relay.components[1].error = DeliveryError(.fanOut, retryAfter: 4_000)
        #expect(missingLines(message)?.contains("MSI_LOG_LEVEL=debug") == true)
        let waiting = LifeText(
            life: ItemLife(message: message), key: .item(message.msiKey), isArchiveKnown: true, isLogKnown: true)
        #expect("\(waiting)".contains("pending: FAN_OUT it waits until FCM has delivered the pop-ups"))
        message.relay.components[1].error = nil
        #expect(missingLines(message)?.contains("MSI_LOG_LEVEL=debug") == true)
        message.relay.components[1].state = .accepted
        #expect(missingLines(message)?.contains("MSI_LOG_LEVEL=debug") == true)
        let debug = try #require(LogRecord(line: "2025-11-21T08:00:02.125Z debug msi-message-log: relayed"))
        #expect(missingLines(message, log: [ItemLife.Line(debug)]) == nil)
    }

    @Test("A life says that running apps can fetch a waiting Alert, and that they remove a recalled one")
    func fetch() {
        func text(_ message: Message, after time: Milliseconds) -> String {
            LifeText(
                life: ItemLife(message: message), key: .item(message.msiKey), isArchiveKnown: true, isLogKnown: true,
                now: Self.time + time
            ).description
        }
        let (fetch, remove) = ("running apps can fetch it", "phones that have fetched it remove it")
        var message = Self.alert()
        #expect(!text(message, after: 4_000).contains(fetch) && text(message, after: 6_000).contains(fetch))
        message.relay.state = .retrying
        message.relay.components[1].error = DeliveryError(class: .retryable, code: "TIMEOUT", message: "late")
        #expect(text(message, after: 1_000).contains(fetch))
        message.relay.state = .recalled
        message.relay.ended = Self.time + 7_000
        for index in message.relay.components.indices { message.relay.components[index].state = .recalled }
        message.receipts = MessageReceipts(received: 1, opened: 0)
        let recalled = text(message, after: 8_000)
        for part in ["recalled; last error: TIMEOUT late", remove, "received by 1 phone, opened by 0"] {
            #expect(recalled.contains(part), "\(recalled)")
        }
        #expect(!recalled.contains(fetch))
        message.relay.components[0].state = .accepted
        #expect(!text(message, after: 8_000).contains(remove))
    }

    /// What the end of a life says about lines that the logs do not have.
    private func missingLines(_ message: Message, log: [ItemLife.Line] = []) -> Substring? {
        var life = ItemLife(message: message)
        life.log = log
        let text = LifeText(life: life, key: .item(message.msiKey), isArchiveKnown: true, isLogKnown: true)
        return "\(text)".split(separator: "\n").last { $0.hasPrefix("(no line") }
    }
}
