import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// What a person's export has of classes and sessions.
@Suite("Export of classes and sessions", .timeLimit(.minutes(10)))
struct StudyExportTests {
    /// All pages of an export. A file's pages follow each other.
    private static func export(_ account: AccountName, of study: RunningStudy) async throws -> [String: [JSONValue]] {
        var files: [String: [JSONValue]] = [:]
        var (last, after): ([String], String?) = ([], nil)
        repeat {
            let page = try await study.client.request(ExportPerson(account, after: after))
            for (name, documents) in page.files {
                #expect(files[name] == nil || last.contains(name), "\(name) was complete")
                files[name, default: []] += documents
            }
            last = Array(page.files.keys)
            after = page.next
        } while after != nil
        return files
    }

    @Test("It has one's own part in classes, sessions, posts and invitations, and no others", arguments: StoreKind.ofRules)
    func files(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, settings: ["MSI_STUDY_POSTS_PER_MINUTE": "600"], clock: clock) { study in
            let id = try await study.addClass(students: ["Ann", "ben", "cleo"], assistants: ["tara"])
            let (ann, ben) = (study.person("ann"), study.person("ben"))
            let own = try await ann.beginsSession(in: id)
            try await ben.comes(to: own, of: id)
            _ = try await ann.invites("cleo", "tara", to: own, of: id)
            for number in 0..<101 { try await ann.posts("post \(number)", to: own, of: id) }
            try await ben.posts("by ben", to: own, of: id)
            let removed = try await ann.posts("removed", to: own, of: id)
            try await study.person("prof").request(RemovePost(removed.id, from: own, of: id))
            clock.pass(.seconds(720))
            try await ann.leaves(own, of: id)
            let open = try await study.person("cleo").beginsSession(in: id)
            try await ann.comes(to: open, of: id)
            let sponsored = try await study.person("tara").beginsSession(in: id, sponsored: true)

            let files = try await Self.export("ann", of: study)
            #expect(Set(files.keys) == ["classes.json", "sessions.json", "posts.json", "invites.json"])
            let classes = try #require(files["classes.json"])
            #expect(classes.map { $0["identification_key"] } == ["PHY-1"] && classes[0]["role"] == "student")
            #expect(classes[0]["class"] == .string("\(id)") && classes[0]["new_sessions"] == false)
            let sessions = try #require(files["sessions.json"])
            #expect(sessions.map { $0["id"] } == [.string("\(own)"), .string("\(open)")])
            #expect(sessions.map { $0["hosted"] } == [true, false] && sessions.map { $0["minutes"] } == [12, 0])
            #expect(sessions[0]["role"] == "student" && sessions[0]["place_name"] == "Library")
            #expect(sessions[0]["place"]?["latitude"] != nil && sessions[1]["place"] == nil && sessions[1]["ended"] == nil)
            let posts = try #require(files["posts.json"])
            #expect(posts.count == 102 && posts.count { $0["removed"] != nil } == 1)
            let texts = Set(posts.map { $0["text"]?.string })
            #expect(texts.isSuperset(of: ["post 0", "post 100", "removed"]))
            let invites = try #require(files["invites.json"])
            #expect(Set(invites.map { $0["to"]?.string }) == ["cleo", "tara"] && invites.allSatisfy { $0["by"] == "Ann" })
            let text = files.filter { $0.key != "invites.json" }.values.flatMap(\.self).map(\.text).joined()
            for name in ["ben", "cleo", "tara", "prof"] { #expect(!text.contains("\"\(name)\""), "\(name)") }
            #expect(!text.contains("by ben"))

            // Who has invited somebody may be no friend of theirs any more.
            let received = try #require(try await Self.export("cleo", of: study)["invites.json"])
            #expect(received.map { $0["session"] } == [.string("\(own)")] && received[0]["to"] == "cleo")
            #expect(received[0]["by"] == nil)
            let hosted = try await Self.export("tara", of: study)["sessions.json"]
            #expect(hosted?.map { $0["id"] } == [.string("\(sponsored)")] && hosted?.first?["joined"] == nil)
            let empty = try await Self.export("stranger", of: study)
            #expect(empty.count == 4 && empty.values.allSatisfy(\.isEmpty))
        }
    }

    @Test("Only the next of an earlier page is taken", arguments: ["", "posts", "cubes-", "posts-!", "-", "posts-AAAA"])
    func wrong(after: String) async throws {
        try await RunningStudy.with { study in
            let failure = await study.client.failure(of: ExportPerson("ann", after: after))
            #expect(failure?.status == .invalid && failure?.field == "after")
        }
    }
}
