import Schemas
import TestSupport
import Testing

@testable import Cube

/// The limit of the cube's size, and changes above it.
@Suite("Size of the cube", .timeLimit(.minutes(10)))
struct CubeSizeTests {
    /// Every kind of change that makes the cube larger.
    private func growths(of topic: TopicKey, _ desc: String) -> [any RecordedEdit] {
        let (channel, area) = (topic.channel, topic.area)
        let named = NamedDraft(name: "N", desc: desc)
        let subject = SubjectDraft(name: "S", desc: desc, opt: SubjectDraft.storms.opt)
        return [
            AddChannel(channel: named), UpdateChannel(channelID: channel, channel: named),
            AddArea(channelID: channel, area: named), UpdateArea(channelID: channel, areaID: area, area: named),
            AddSubject(channelID: channel, areaID: area, subject: subject),
            UpdateSubject(channelID: channel, areaID: area, subjectID: topic.subject, subject: subject),
        ]
    }

    @Test(
        "A change that would make the cube too large is refused and changes nothing; shorter texts and deletions make room",
        arguments: StoreKind.allCases)
    func limit(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let store = try await place.open(sizeLimit: 6_000)
            let topic = try await store.build()
            // Quotes are two bytes each in JSON.
            let wide = String(repeating: "\"", count: 2_000)
            let filler = try await store.edit(AddChannel(channel: NamedDraft(name: "filler", desc: wide))).value
            let before = try await store.snapshot()
            for growth in growths(of: topic, wide) {
                let failure = await store.refusal(of: growth)
                #expect(failure?.status == .storageFull && failure?.message.contains("MSI_CUBE_SIZE_LIMIT") == true, "\(growth)")
            }
            #expect(try await store.snapshot() == before)

            _ = try await store.edit(UpdateChannel(channelID: filler.id, channel: .named("filler")))
            let area = AddArea(channelID: topic.channel, area: .named("N", desc: wide))
            _ = try await store.edit(area)
            #expect(await store.refusal(of: area) != nil)
            _ = try await store.edit(DeleteChannel(channelID: topic.channel))
            let again = try await store.build()
            _ = try await store.edit(DeleteSubject(channelID: again.channel, areaID: again.area, subjectID: again.subject))
            _ = try await store.edit(DeleteArea(channelID: again.channel, areaID: again.area))
            _ = try await store.edit(DeleteChannel(channelID: again.channel))
            // Deleted objects do not count.
            let channel = AddChannel(channel: .named("N", desc: wide))
            _ = try await store.edit(channel)
            let failure = await store.refusal(of: channel)
            let size = try CubeSize.of(await store.snapshot().channels + [Channel(id: ObjectID(), name: "N", desc: wide)])
            #expect(failure?.message.contains(" \(size) bytes, and may have 6000") == true, "\(failure as Any)")
            try await store.close()
        }
    }

    @Test("Concurrent changes cannot exceed the limit together", arguments: StoreKind.allCases)
    func concurrent(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            var stores: [CubeStore] = []
            for _ in 0..<(kind == .mongodb ? 2 : 1) { stores.append(try await place.open(sizeLimit: 8_000)) }
            let draft = NamedDraft(name: "N", desc: String(repeating: "x", count: 900))
            let added = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<30 {
                    let store = stores[number % stores.count]
                    group.addTask { (try? await store.edit(AddChannel(channel: draft))) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let channels = try await stores[0].snapshot().channels
            let size = try CubeSize.of(channels)
            #expect(channels.count == added && size <= 8_000 && size > 7_000)
            for store in stores { try await store.close() }
        }
    }

    @Test(
        "A cube that is already too large can be read, searched and made smaller, and cannot grow", arguments: StoreKind.allCases)
    func tooLarge(_ kind: StoreKind) async throws {
        try await withCubePlace(kind) { place in
            let first = try await place.open()
            let topic = try await first.build()
            for number in 0..<5 {
                _ = try await first.edit(
                    AddChannel(channel: NamedDraft(name: "\(number)", desc: String(repeating: "x", count: 1_000))))
            }
            let before = try await first.snapshot()
            try await first.close()

            let store = try await place.open(sizeLimit: 2_000)
            #expect(try await store.snapshot() == before)
            #expect(try await store.find(FindSubject(topicKey: topic)).subject.topicKey == topic)
            for growth in growths(of: topic, "a longer description than before") {
                #expect(await store.refusal(of: growth)?.status == .storageFull, "\(growth)")
            }
            // As large as before, smaller, and deleted: all of these are still above the limit.
            let channels = before.channels.dropFirst()
            let same = NamedDraft(name: "S", desc: String(repeating: "y", count: 1_000))
            _ = try await store.edit(UpdateChannel(channelID: channels[1].id, channel: same))
            _ = try await store.edit(UpdateChannel(channelID: channels[1].id, channel: NamedDraft(name: "S", desc: "s")))
            _ = try await store.edit(DeleteChannel(channelID: channels[2].id))
            try await store.close()
        }
    }

    @Test(
        "While only the reserve of the disk is left, nothing is added; what does not make the cube larger can still be changed",
        .enabled(if: SmallDisk.isPossible))
    func reserve() async throws {
        try await SmallDisk.with(megabytes: 24) { disk in
            let store = try await CubePlace(folder: disk.folder, url: nil).open()
            let (topic, other) = (try await store.build(), try await store.build())
            let (ann, bob) = (try #require(AccountName("ann")), try #require(AccountName("bob")))
            try await store.edit(SetAccess(channelID: topic.channel, access: [ann]))
            for number in 0..<5 { try await store.edit(AddArea(channelID: topic.channel, area: .named("\(number)"))) }
            try disk.fill(leaving: 4 << 20)
            let before = try await store.snapshot()
            for growth in growths(of: topic, "a longer description than before") {
                #expect(await store.refusal(of: growth)?.status == .storageFull, "\(growth)")
            }
            #expect(try await store.snapshot() == before)
            let areas = Array(before.channels[0].areas.map(\.id).reversed())
            let others: [any RecordedEdit] = [
                SetOrder(ids: [other.channel, topic.channel]), SetOrder(channelID: topic.channel, ids: areas),
                SetAccess(channelID: topic.channel, access: [bob]),
                MoveSubject(
                    channelID: topic.channel, areaID: topic.area, subjectID: topic.subject,
                    to: SubjectPlace(channel: other.channel, area: other.area)),
                DeleteChannel(channelID: topic.channel),
            ]
            for edit in others { try await store.make(edit) }
            #expect(try await store.snapshot().channels.map(\.areas.first?.subjects.count) == [2])
            try await store.close()
        }
    }

    @Test("A subject is found by its topic key, with the names on its path", arguments: StoreKind.allCases)
    func find(_ kind: StoreKind) async throws {
        try await withCubeStore(kind) { store in
            let channel = try await store.edit(AddChannel(channel: .named("C", desc: "c"))).value.id
            let other = try await store.edit(AddArea(channelID: channel, area: .named("O"))).value.id
            let area = try await store.edit(AddArea(channelID: channel, area: .named("A"))).value.id
            var subjects: [Subject] = []
            for number in 0..<3 {
                let draft = SubjectDraft(name: "S\(number)", desc: "", opt: SubjectDraft.storms.opt)
                subjects.append(try await store.edit(AddSubject(channelID: channel, areaID: area, subject: draft)).value)
            }
            let found = try await store.find(FindSubject(topicKey: subjects[1].topicKey))
            let names = CubeNames(channel: "C", area: "A", subject: "S1")
            #expect(found == FindSubject.Reply(version: 6, subject: subjects[1], names: names))
            let unknown = [
                TopicKey(channel: ObjectID(), area: area, subject: subjects[1].id),
                TopicKey(channel: channel, area: other, subject: subjects[1].id),
                TopicKey(channel: channel, area: area, subject: ObjectID()),
            ]
            for topicKey in unknown {
                let failure = await #expect(throws: CommandFailure.self) { try await store.find(FindSubject(topicKey: topicKey)) }
                #expect(failure?.status == .notFound)
            }
        }
    }
}
