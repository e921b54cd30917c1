import FoundationEssentials
import Base
import Schemas
import Testing

@testable import AuditTrail

/// What the hashes of the audit log detect.
@Suite("Verification of the audit log")
struct AuditVerificationTests {
    /// A log of entries with the numbers 1, 2, …
    private static func log(_ count: Int) throws -> [AuditLink] {
        var links: [AuditLink] = []
        var head = AuditHead.empty
        for number in 0..<count {
            let link = try AuditLink(WrittenAuditEntry(AuditEntry.sample("change.\(number)")), behind: head)
            links.append(link)
            head = link.head
        }
        return links
    }

    /// The fault of a log; `nil` if it is whole.
    ///
    /// - Parameter head: By default that of the last link.
    private static func fault(_ links: [AuditLink], head: AuditHead? = nil, logged: [AuditHead] = []) -> AuditFault? {
        var verification = AuditVerification(logged: logged)
        do throws(AuditFault) {
            for link in links { try verification.verify(link) }
            try verification.finish(head ?? links.last?.head ?? .empty)
            return nil
        } catch {
            return error
        }
    }

    @Test("A whole log is verified, also an empty one, and with logged hashes")
    func whole() throws {
        let links = try Self.log(5)
        #expect(Self.fault(links) == nil)
        #expect(Self.fault([]) == nil)
        #expect(Self.fault(links, logged: [links[1].head, links[4].head]) == nil)
        #expect(links.map(\.id) == [1, 2, 3, 4, 5])
        #expect(links[0].previous == AuditLink.firstPrevious)
    }

    @Test("A changed entry is detected, even if its hash was recomputed")
    func changed() throws {
        var links = try Self.log(5)
        links[2] = links[2].with(text: links[2].entry.replacing("ann", with: "bob"))
        #expect(Self.fault(links)?.number == 3)
        let forged = try AuditLink(WrittenAuditEntry(AuditEntry.sample("forged")), behind: links[1].head)
        links[2] = forged
        #expect(Self.fault(links)?.number == 4)
    }

    @Test("Changed fields for searches are detected")
    func copies() throws {
        var links = try Self.log(3)
        let entry = try #require(links[1].content)
        let other = AuditEntry(id: entry.id, at: entry.at, by: .program, action: entry.action, object: entry.object)
        links[1] = AuditLink(
            2, WrittenAuditEntry(other, json: links[1].entry), previous: links[1].previous, hash: links[1].hash)
        #expect(Self.fault(links)?.number == 2)
    }

    @Test("An entry of another version of the product, with a field that this one does not know, is whole")
    func otherVersion() throws {
        let link = try #require(try Self.log(1).first)
        let text = link.entry.replacing("{\"action\"", with: "{\"a_new_field\":[1],\"action\"")
        #expect(text != link.entry)
        let entry = try #require(link.content)
        let other = AuditLink(
            1, WrittenAuditEntry(entry, json: text), previous: link.previous,
            hash: AuditLink.hash(of: text, behind: link.previous))
        #expect(Self.fault([other]) == nil)
    }

    @Test("Logged hashes are read from the file of hashes, and from the log of the people service")
    func loggedHeads() throws {
        let head = try Self.log(1)[0].head
        let lines = "2025-11-21T02:40:00Z 0:\(AuditHead.empty.hash)\n2025-11-21T03:40:00Z 1:\(head.hash)\n"
        #expect(AuditHeadFile.heads(in: lines) == [head])
        let line = #"{"time":"2025-11-21T02:40:00.1Z","level":"notice","message":"the newest entry","hash":"1:\#(head.hash)"}"#
        #expect(AuditHeadFile.heads(in: line + "\n" + line) == [head, head])
    }

    @Test("A removed entry is detected, even if the others were renumbered")
    func removed() throws {
        var links = try Self.log(5)
        links.remove(at: 1)
        #expect(Self.fault(links)?.number == 2)
        let renumbered = links.enumerated().map { $1.numbered(Int64($0) + 1) }
        #expect(Self.fault(renumbered)?.number == 2)
    }

    @Test("An inserted entry is detected")
    func inserted() throws {
        let links = try Self.log(4)
        let forged = try AuditLink(WrittenAuditEntry(AuditEntry.sample("forged")), behind: links[1].head)
        let all = Array(links[..<2]) + [forged] + links[2...].map { $0.numbered($0.id + 1) }
        #expect(Self.fault(all)?.number == 4)
        let twice = links + [try #require(links.last)]
        #expect(Self.fault(twice)?.number == 5)
    }

    @Test("A document that is not an entry is detected and named, wherever it is")
    func unreadable() throws {
        let links = try Self.log(3)
        let head = try #require(links.last).head
        var verification = AuditVerification()
        try verification.verify(ReadAuditChain.Reply(links: Array(links.prefix(2)), next: "more", head: head))
        let damaged = ReadAuditChain.Reply(links: Array(links.suffix(1)), unreadable: ["zzz"], next: nil, head: head)
        let fault = #expect(throws: AuditFault.self) { try verification.verify(damaged) }
        #expect(fault?.number == 3 && fault?.description.contains("document zzz") == true)
        try verification.verify(ReadAuditChain.Reply(links: Array(links.suffix(1)), next: nil, head: head))
        #expect(verification.verified == head)
    }

    @Test("Entries that were cut off are detected by the log's own count, or by a logged hash")
    func cutOff() throws {
        let links = try Self.log(5)
        let rest = Array(links.prefix(3))
        #expect(Self.fault(rest, head: links[4].head)?.number == 4)
        // Its count was changed as well.
        #expect(Self.fault(rest) == nil)
        #expect(Self.fault(rest, logged: [links[4].head])?.number == 4)
        #expect(Self.fault([], head: .empty, logged: [links[0].head])?.number == 1)
    }

    @Test("A log whose hashes were all recomputed is detected by a logged hash")
    func forgedChain() throws {
        let (links, others) = (try Self.log(5), try Self.log(5))
        #expect(Self.fault(others) == nil)
        let fault = Self.fault(others, logged: [links[3].head])
        #expect(fault?.number == 4)
        #expect(fault?.description.contains(links[3].hash) == true)
    }

    @Test("A command has at most 200 entries, and fits a request unless it has only one")
    func batches() throws {
        let small = (0..<300).map { AuditEntry.sample("change.\($0)") }
        let pending = try small.map { try $0.pending }
        #expect(AuditForwarder.batchSize(of: pending) == AddAuditEntries.maxEntries)
        let long = AuditEntry(
            by: .program, action: "a", object: AuditObject(kind: "k", id: "i"),
            before: .string(String(repeating: "x", count: 100_000)), after: .string(String(repeating: "y", count: 500_000)))
        try long.check()
        #expect(long.after?["bytes"] == 500_002)
        let size = AuditForwarder.batchSize(of: Array(repeating: try long.pending, count: 20))
        let payload = try AddAuditEntries(entries: Array(repeating: long, count: size)).payload()
        #expect(size > 1 && payload.count < 1 << 20)
    }
}

extension AuditEntry {
    static func sample(
        _ action: String, actor: String = "ann", object: String = "thing", at: UnixMilliseconds = .now
    ) -> AuditEntry {
        AuditEntry(
            at: at, by: AuditAuthor(actor: actor, address: "192.0.2.7"), action: action,
            object: AuditObject(kind: "thing", id: object), before: ["n": 1, "text": "\"é\"\n"], after: ["n": .number("1.50")])
    }
}

extension AuditEntry {
    var pending: PendingAuditEntry {
        get throws { PendingAuditEntry(id: id, json: String(decoding: try JSONCoder.encode(self), as: UTF8.self)) }
    }
}

extension AuditLink {
    var head: AuditHead { AuditHead(number: id, hash: hash) }

    fileprivate func with(text: String) -> AuditLink {
        AuditLink(id, WrittenAuditEntry(content ?? .sample(""), json: text), previous: previous, hash: hash)
    }

    fileprivate func numbered(_ number: Int64) -> AuditLink {
        AuditLink(number, WrittenAuditEntry(content ?? .sample(""), json: entry), previous: previous, hash: hash)
    }
}
