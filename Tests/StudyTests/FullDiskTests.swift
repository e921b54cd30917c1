import Bus
import Schemas
import TestSupport
import Testing

@Suite("Study on a disk with only its reserve", .enabled(if: SmallDisk.isPossible), .timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test("Sessions are joined, left, handed over and ended, and posts removed; no class, session or post can be added")
    func reserve() async throws {
        try await SmallDisk.with(megabytes: 24) { disk in
            try await RunningStudy.with(in: disk.folder) { study in
                let id = try await study.addClass(students: ["ann", "ben", "cem"])
                let key = try await study.addKey(to: id)
                let (prof, ann, ben, cem) = (
                    study.person("prof"), study.person("ann"), study.person("ben"), study.person("cem")
                )
                let session = try await ann.start(in: id)
                try await ben.join(session)
                let post = try await ann.posts("Bring your notes", to: session.id, of: id)
                try disk.fill(leaving: 4 << 20)

                let group = AddClass(ClassDraft(name: "Maths", identificationKey: "MAT-1"))
                #expect(await prof.failure(of: group)?.status == .storageFull)
                #expect(await study.person("dan").refusal(of: key.code)?.status == .storageFull)
                let draft = SessionDraft(topics: ["Waves"], place: Spot.library, minutes: 60, position: Spot.person())
                #expect(await cem.failure(of: AddSession(to: id, draft))?.status == .storageFull)
                let another = AddPost("By the window", to: session.id, of: id, requestKey: nil)
                #expect(await ben.failure(of: another)?.status == .storageFull)

                try await cem.join(session)
                try await ann.edit(session, SessionEdit(host: "ben"))
                try await ann.leave(session)
                try await ann.request(RemovePost(post.id, from: session.id, of: id))
                let open = try await cem.read(session)
                #expect(open.host?.description == "ben" && open.attendants.map(\.description) == ["ben", "cem"])
                #expect(try await cem.readsPosts(to: session.id, of: id).isEmpty)
                try await prof.end(session)
                #expect(try await cem.sessions(of: id).isEmpty)
                let past = try await prof.request(ListPastSessions(of: id, limit: 10)).sessions
                #expect(past.map(\.reason) == [.staff] && past.first?.attendants.count == 3)
            }
        }
    }
}
