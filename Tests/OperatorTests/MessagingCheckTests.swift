import Base
import FoundationEssentials
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Operator

/// What `msi doctor` and `msi status` say about messages between persons, and about storage.
@Suite("Messages between persons for the operator")
struct MessagingCheckTests {
    private static let now = UnixMilliseconds(rawValue: 1_796_000_000_000)

    private func counts(due seconds: Int64? = nil, calls: Int64 = 5_000, limit: Int64? = nil) -> CountMessaging.Reply {
        CountMessaging.Reply(
            messages: 12, reports: 1, pictures: 3 << 20, pictureLimit: 10 << 30, month: "2026-11",
            calls: ["sendMessage": calls - 1_000, "others": 1_000], callLimit: limit,
            due: seconds.map { Self.now + .seconds($0) }, now: Self.now)
    }

    private func health(_ services: String) throws -> ProductStatus.Health {
        let json = #"{"status":"ok","services":{\#(services)},"versions":{},"parts":{},"copies":{}}"#
        return try JSONCoder.decode(ProductStatus.Health.self, from: Data(json.utf8))
    }

    private func status(_ messaging: MessagingState, stores: [StoreUsage] = []) throws -> ProductStatus {
        ProductStatus(
            gateway: "http://h", health: try health(""), places: [], canary: .notSetUp,
            messages: .failure(GatewayFailure(.notAllowed, "no right")), token: .usable, messaging: messaging, stores: stores,
            at: Self.now)
    }

    @Test("What should have been removed more than a minute ago is a failure, and the status says so")
    func late() {
        for due in [nil, 30, -60] as [Int64?] {
            #expect(MessagingCheck.findings(about: counts(due: due)).map(\.level) == [.ok])
            let lines = MessagingState.known(counts(due: due)).lines
            #expect(lines[0].hasSuffix("1 open report; pictures take up 3 MiB of 10240 MiB"), "\(lines)")
            #expect(lines[1] == "calls of persons in 2026-11: 5000")
        }
        let late = MessagingCheck.findings(about: counts(due: -300))
        #expect(late.map(\.level) == [.failure] && late[0].found.hasSuffix("removed 5 min ago"), "\(late)")
        #expect(MessagingState.known(counts(due: -300)).lines[0].hasSuffix("removing is late by 5 min"))
    }

    @Test("From 90 % of the operator's number of calls on there is a warning")
    func calls() {
        #expect(MessagingCheck.findings(about: counts(calls: 8_999, limit: 10_000)).map(\.level) == [.ok])
        let many = MessagingCheck.findings(about: counts(calls: 9_000, limit: 10_000))
        #expect(many.map(\.level) == [.warning], "\(many)")
        #expect(many[0].found == "calls of persons in 2026-11: 9000 of 10000 (90 %)")
        #expect(many[0].advice?.contains("MSI_MESSAGING_CALLS") == true)
    }

    @Test("Where removed messages cannot be noted, none is removed, which is a failure")
    func log() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/removed-messages.log"
            #expect(MessagingCheck.finding(aboutLog: path) == nil)
            #expect(FileManager.default.createFile(atPath: path, contents: Data()))
            #expect(MessagingCheck.finding(aboutLog: path) == nil)
            #expect(MessagingCheck.finding(aboutLog: folder)?.level == .failure)
        }
    }

    @Test("The status has the counts and the storage, or why the counts are not known")
    func statusText() async throws {
        let stores = [
            StoreUsage(name: "people", bytes: 17 << 20, limit: nil, free: 1 << 40, percent: 3),
            StoreUsage(name: "messaging", bytes: 92 << 20, limit: 100 << 20, free: 1 << 40, percent: 94),
        ]
        let known = try status(.known(counts()), stores: stores)
        let json = try JSONValue(parsing: try JSONCoder.encode(known))
        #expect(json["messaging"]?["reports"] == 1 && json["messaging_problem"] == nil)
        #expect(json["stores"]?.elements?.last?["percent"] == 94)
        let text = StatusText(status: known).description
        #expect(text.contains("\nmessages between persons: 12 wait"))
        #expect(text.contains("\nstorage: people 17 MiB (3 %), messaging 92 MiB of 100 MiB (94 %)"), "\(text)")
        let unknown = StatusText(status: try status(.unknown(problem: "it does not answer"))).description
        #expect(unknown.contains("messages between persons: not known: it does not answer") && !unknown.contains("storage:"))
        let settings = try await SettingValues(arguments: [], environment: [:], accepted: [])
        let without = await MessagingState.read(settings, try health(#""cube":"ok""#))
        #expect(without.lines.isEmpty)
    }

    @Test("A store that is nearly full names the setting that gives it more room; of many calls nothing is broken")
    func full() {
        let findings = BusCheck.findings(
            of: ServiceHealth(
                version: "1.1.0",
                parts: [
                    "pictures": PartHealth(.storageFull, "92 % of the room"),
                    "storage": PartHealth(.storageFull, "91 % of the room"), "calls": PartHealth(.overloaded, "many calls"),
                ]),
            BusInstance(.messaging, at: "ipc:///run/msi/messaging.sock", .missing), log: "its log")
        #expect(findings.map(\.level) == [.warning, .warning, .warning])
        #expect(findings[0].advice == "see the findings about messaging; no call is refused")
        #expect(findings[1].advice == "raise MSI_MESSAGING_PICTURES")
        #expect(findings[2].advice?.contains("MSI_MESSAGING_STORAGE_LIMIT") == true, "\(findings)")
    }
}
