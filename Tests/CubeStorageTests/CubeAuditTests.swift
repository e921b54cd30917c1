import FoundationEssentials
import JSON
import Schemas
import TestSupport
import Testing

@testable import CubeStorage

/// The entries for the audit log that changes of the cube store.
@Suite("Audit of the cube", .timeLimit(.minutes(10)))
struct CubeAuditTests {
    @Test(
        "Each change stores an entry with who, from where, before and after, until it is acknowledged",
        arguments: StoreKind.allCases)
    func entries(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let start = UnixMilliseconds.now
            let channel = try await store.add(AddChannel(channel: .named("C"))).value.id
            let area = try await store.add(AddArea(channelID: channel, area: .named("A"))).value.id
            let opt = SubjectOptions(level: .forced, distribution: .alert)
            let subject = try await store.add(
                AddSubject(channelID: channel, areaID: area, subject: SubjectDraft(name: "S", desc: "", opt: opt))
            ).value
            _ = try await store.update(UpdateArea(channelID: channel, areaID: area, area: .named("B")))
            let names = [try #require(AccountName("Bob"))]
            _ = try await store.set(SetAccess(channelID: channel, access: names), by: .program)
            _ = try await store.set(SetOrder(ids: [channel]), by: .ann)
            _ = try await store.set(
                SetApproval(channelID: channel, areaID: area, subjectID: subject.id, approval: true), by: .ann)
            _ = try await store.delete(DeleteChannel(channelID: channel))

            let entries = try await store.pendingEntries(limit: 100)
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

            let first = try await store.pendingAudit(limit: 3)
            #expect(first.map(\.id) == entries.prefix(3).map(\.id))
            try await store.acknowledgeAudit(first)
            #expect(try await store.pendingEntries(limit: 100) == Array(entries.dropFirst(3)))
        }
    }

    @Test("A change that is refused leaves no entry", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            await #expect(throws: CommandFailure.self) { try await store.delete(DeleteChannel(channelID: ObjectID())) }
            await #expect(throws: CommandFailure.self) { try await store.set(SetOrder(ids: [ObjectID()]), by: .ann) }
            let pending = try await store.pendingAudit(limit: 100)
            #expect(pending.isEmpty)
        }
    }

    @Test("Pending entries survive a restart, and another program's edit leaves one", arguments: StoreKind.allCases)
    func restart(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let first = try await place.open()
            let channel = try await first.add(AddChannel(channel: .named("C"))).value.id
            let entries = try await first.pendingAudit(limit: 100)
            try await first.close()

            let second = try await place.open()
            #expect(try await second.pendingAudit(limit: 100) == entries)
            try await withForeignEdits(of: second) { edits in
                if kind == .sqlite { try await eventually { edits.checks > 0 } }
                try await place.rename(channel, "renamed")
                try await eventually { edits.versions == [2] }
            }
            let all = try await second.pendingEntries(limit: 100)
            #expect(all.map(\.action) == ["channel.add", "cube.foreign_edit"])
            #expect(all.last?.actor == nil && all.last?.after == ["version": 2])
            try await second.close()
        }
    }

    @Test("A refused entry is set aside, and counted", arguments: StoreKind.allCases)
    func setAside(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            for name in ["A", "B"] { _ = try await store.add(AddChannel(channel: .named(name))) }
            let pending = try await store.pendingAudit(limit: 100)
            #expect(try await store.auditBacklog() == AuditBacklog(count: 2, oldest: pending[0].id.created))
            try await store.refuseAudit(pending[0])
            #expect(try await store.pendingAudit(limit: 100) == [pending[1]])
            #expect(try await store.auditBacklog() == AuditBacklog(count: 1, oldest: pending[1].id.created, refused: 1))
            #expect(try await store.storedAudit(after: nil, limit: 9).map(\.isRefused) == [true, false])
            #expect(try await store.storedAudit(after: pending[0].id, limit: 9) == [pending[1]])
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
            try await store.restore(CubeSnapshot(version: 1, channels: [channel]))
            _ = try await store.delete(DeleteChannel(channelID: channel.id))
            #expect(try await store.pendingAudit(limit: .max).count == count + 2)
        }
    }

    @Test("Entries that are moved to another store are there once, also if they are moved again", arguments: StoreKind.allCases)
    func moved(_ kind: StoreKind) async throws {
        try await withCubeStore(.sqlite) { source in
            for name in ["A", "B"] { _ = try await source.add(AddChannel(channel: .named(name))) }
            let entries = try await source.pendingAudit(limit: 100)
            try await withCubeStore(kind) { target in
                for _ in 0..<2 { try await target.addPendingAudit(of: source) }
                #expect(try await target.pendingAudit(limit: 100) == entries)
            }
        }
    }
}

extension AuditSource {
    /// The pending entries, decoded.
    func pendingEntries(limit: Int) async throws -> [AuditEntry] {
        try await pendingAudit(limit: limit).map { try JSONCoder.decode(from: Data($0.json.utf8)) }
    }
}
