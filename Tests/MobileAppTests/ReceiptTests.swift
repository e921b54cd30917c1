import JSON
import MobileApp
import TestSupport
import Testing

/// What a phone reports to the hub.
@Suite("Receipts", .timeLimit(.minutes(10)))
struct ReceiptTests {
    private static let keys = (1...3).map { "6b0187feff0dafac2833f43\($0)" }

    private static func message(_ key: String) -> StoredMessage {
        StoredMessage(
            msiKey: key, topicKey: "t", dist: "Information", title: "Title", desc: "", message: "A text.",
            timestamp: 1_795_521_600_000)
    }

    private func keys(_ report: JSONValue, _ kind: String) -> [String] {
        report[kind]?.elements?.compactMap(\.string) ?? []
    }

    @Test("Received and opened messages are reported once, under one random id")
    func reported() async throws {
        let phone = try TestPhone()
        for key in Self.keys + Self.keys { try await phone.app.messages.add(Self.message(key)) }
        for _ in 0..<2 { try await phone.app.messages.markRead(Self.keys[0]) }
        try await phone.app.messages.markRead(Self.keys[1], false)
        try await phone.app.receipts.send()
        try await phone.app.messages.markRead(Self.keys[2])
        // Restored messages were reported before.
        let removed = try #require(try await phone.app.messages.remove(Self.keys[0]))
        try await phone.app.messages.restore(removed)
        try await phone.app.receipts.send()
        try await phone.app.receipts.send()
        let reports = phone.hub.reports
        try #require(reports.count == 2)
        #expect(keys(reports[0], "received").sorted() == Self.keys && keys(reports[0], "opened") == [Self.keys[0]])
        #expect(keys(reports[1], "received").isEmpty && keys(reports[1], "opened") == [Self.keys[2]])
        #expect(reports.map { $0["report"] } == [1, 2])
        let installation = try #require(reports[0]["installation"]?.string)
        #expect(installation.count == 24 && installation.allSatisfy(\.isHexDigit))
        #expect(reports[1]["installation"]?.string == installation)
        let other = try TestPhone()
        try await other.app.messages.add(Self.message(Self.keys[0]))
        try await other.app.receipts.send()
        #expect(other.hub.reports.first?["installation"]?.string != installation)
    }

    @Test("A report without an answer is repeated with its number, and later messages wait for it", arguments: [429, 500, 503])
    func repeated(_ status: Int) async throws {
        let phone = try TestPhone()
        try await phone.app.messages.add(Self.message(Self.keys[0]))
        phone.hub.setReceiptStatus(status)
        await #expect(throws: HubFailure.refused(status: status, path: "/receipt")) { try await phone.app.receipts.send() }
        try await phone.app.messages.add(Self.message(Self.keys[1]))
        phone.hub.setReceiptStatus(204)
        try await phone.app.receipts.send()
        #expect(phone.hub.reports.map { $0["report"] } == [1, 1, 2])
        #expect(phone.hub.reports.map { keys($0, "received") } == [[Self.keys[0]], [Self.keys[0]], [Self.keys[1]]])
    }

    @Test("A hub that does not know reports is not asked again and again", arguments: [400, 404])
    func unknownToTheHub(_ status: Int) async throws {
        let phone = try TestPhone()
        try await phone.app.messages.add(Self.message(Self.keys[0]))
        phone.hub.setReceiptStatus(status)
        for _ in 0..<2 { try await phone.app.receipts.send() }
        #expect(phone.hub.reports.count == 1)
    }

    @Test("A student who does not want to report sends nothing, also not what waits or what is opened later")
    func off() async throws {
        let phone = try TestPhone()
        try await phone.app.messages.add(Self.message(Self.keys[0]))
        try await phone.app.receipts.set(false)
        #expect(try await phone.app.receipts.areOn() == false)
        try await phone.app.messages.add(Self.message(Self.keys[1]))
        try await phone.app.receipts.set(true)
        for key in Self.keys.prefix(2) { try await phone.app.messages.markRead(key) }
        try await phone.app.messages.add(Self.message(Self.keys[2]))
        try await phone.app.receipts.send()
        #expect(phone.hub.reports.map { keys($0, "received") + keys($0, "opened") } == [[Self.keys[2]]])
    }

    @Test("Many messages are reported in parts; what could not be reported for eight days is not")
    func parts() async throws {
        let phone = try TestPhone()
        try await phone.app.messages.add(Self.message(Self.keys[0]))
        phone.clock.advance(by: 8 * 86_400 + 1)
        for number in 0..<250 { try await phone.app.messages.add(Self.message("\(number)")) }
        try await phone.app.receipts.send()
        #expect(phone.hub.reports.map { keys($0, "received").count } == [200, 50])
    }

    @Test("The running app reports within a minute of a message, and goes on after the hub was away")
    func byItself() async throws {
        let phone = try TestPhone()
        phone.hub.setReceiptStatus(503)
        try await phone.running {
            try await phone.app.messages.add(Self.message(Self.keys[0]))
            try await eventually("a report") {
                phone.clock.advance(by: 1)
                return !phone.hub.reports.isEmpty
            }
            phone.hub.setReceiptStatus(204)
            try await eventually("a report that is taken") {
                phone.clock.advance(by: 1)
                return phone.hub.reports.count >= 2
            }
        }
        #expect(Set(phone.hub.reports) == [phone.hub.reports[0]])
    }
}
