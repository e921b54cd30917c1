import FoundationEssentials
import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Cube

/// The entries for the audit log that changes of the cube store.
@Suite("Audit of the cube", .timeLimit(.minutes(10)))
struct CubeAuditTests {
    @Test(
        "Each change stores an entry with who, from where, before and after, until it is acknowledged",
        arguments: StoreKind.allCases)
    func entries(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let start = UnixMilliseconds.now
            let channel = try await store.edit(AddChannel(channel: .named("C"))).value.id
            let area = try await store.edit(AddArea(channelID: channel, area: .named("A"))).value.id
            let opt = SubjectOptions(level: .forced, distribution: .alert)
            let subject = try await store.edit(
                AddSubject(channelID: channel, areaID: area, subject: SubjectDraft(name: "S", desc: "", opt: opt))
            ).value
            _ = try await store.edit(UpdateArea(channelID: channel, areaID: area, area: .named("B")))
            let names = [try #require(AccountName("Bob"))]
            _ = try await store.edit(SetAccess(channelID: channel, access: names), by: .program)
            _ = try await store.edit(SetOrder(ids: [channel]))
            _ = try await store.edit(
                SetApproval(channelID: channel, areaID: area, subjectID: subject.id, approval: true))
            _ = try await store.edit(DeleteChannel(channelID: channel))

            let entries = try await store.audit.pendingEntries(limit: 100)
            #expect(
                entries.map(\.action) == [
                    "channel.add", "area.add", "subject.add", "area.update", "access.set", "order.set", "approval.set",
                    "channel.delete", "area.delete", "subject.delete",
                ])
            #expect(
                entries.map(\.object.id) == [
                    "\(channel)", "\(channel)-\(area)", "\(subject.topicKey)", "\(channel)-\(area)", "\(channel)", "cube",
                    "\(subject.topicKey)", "\(channel)", "\(channel)-\(area)", "\(subject.topicKey)",
                ])
            #expect(Set(entries.map(\.id)).count == entries.count)
            for (index, entry) in entries.enumerated() {
                #expect(entry.actor == (index == 4 ? nil : "ann") && entry.address == (index == 4 ? nil : "192.0.2.7"))
                #expect((start...UnixMilliseconds.now).contains(entry.at))
                try entry.check()
            }
            let update = entries[3]
            #expect(update.before == ["name": "A", "desc": "", "access": []])
            #expect(update.after == ["name": "B", "desc": "", "access": []])
            #expect(entries[0].before == nil && entries[7].after == nil)
            #expect(entries[4].before == ["access": []] && entries[4].after == ["access": ["Bob"]])
            #expect(entries[6].after == ["approval": true])
            #expect(entries[9].before?["approval"] == true)

            let first = try await store.audit.pendingAudit(limit: 3)
            #expect(first.map(\.id) == entries.prefix(3).map(\.id))
            try await store.audit.acknowledgeAudit(first)
            #expect(try await store.audit.pendingEntries(limit: 100) == Array(entries.dropFirst(3)))
        }
    }

    @Test("A change that is refused leaves no entry", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            await #expect(throws: CommandFailure.self) { try await store.edit(DeleteChannel(channelID: ObjectID())) }
            await #expect(throws: CommandFailure.self) { try await store.edit(SetOrder(ids: [ObjectID()])) }
            let pending = try await store.audit.pendingAudit(limit: 100)
            #expect(pending.isEmpty)
        }
    }

    @Test("Pending entries survive a restart, and another program's edit leaves one", arguments: StoreKind.allCases)
    func restart(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let first = try await place.open()
            let channel = try await first.edit(AddChannel(channel: .named("C"))).value.id
            let entries = try await first.audit.pendingAudit(limit: 100)
            try await first.close()

            let second = try await place.open()
            #expect(try await second.audit.pendingAudit(limit: 100) == entries)
            try await withForeignEdits(of: second) { edits in
                try await place.rename(channel, "renamed")
                try await eventually { edits.versions == [2] }
            }
            let all = try await second.audit.pendingEntries(limit: 100)
            #expect(all.map(\.action) == ["channel.add", "cube.foreign_edit"])
            #expect(all.last?.actor == nil && all.last?.after == ["version": 2])
            try await second.close()
        }
    }

    @Test(
        "After the deletion of a channel with many subjects each of them has its entry",
        arguments: StoreKind.allCases)
    func largeDeletion(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            var channel = Channel(id: ObjectID(), name: "C", desc: "")
            var area = Area(id: ObjectID(), name: "A", desc: "")
            let count = Level.isAll ? 3_000 : 300
            area.subjects = (0..<count).map { number in
                let topicKey = TopicKey(channel: channel.id, area: area.id, subject: ObjectID())
                return Subject(
                    id: topicKey.subject, name: "\(number)", desc: "", topicKey: topicKey,
                    opt: SubjectOptions(level: .forced, distribution: .alert))
            }
            channel.areas = [area]
            try await store.fill(CubeSnapshot(version: 1, channels: [channel]))
            _ = try await store.edit(DeleteChannel(channelID: channel.id))
            #expect(try await store.audit.pendingAudit(limit: 10_000).count == count + 2)
        }
    }
}

extension AuditSource {
    /// The pending entries, decoded.
    func pendingEntries(limit: Int) async throws -> [AuditEntry] {
        try await pendingAudit(limit: limit).map { try JSONCoder.decode(from: Data($0.json.utf8)) }
    }
}
