import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// What the audit log has of classes.
@Suite("Audit of classes", .timeLimit(.minutes(10)))
struct ClassAuditTests {
    /// Makes each change that the audit log has, and others.
    ///
    /// - Returns: The codes of the keys.
    private static func changes(of study: RunningStudy) async throws -> [String] {
        let prof = study.person("prof")
        let id = try await study.addClass().id
        let key = try await study.addKey(to: id)
        let assistants = try await study.addKey(to: id, .assistant, uses: 5)
        let replaced = try await prof.request(ReplaceClassKey(key.id, of: id))
        try await study.person("ann").join(replaced)
        try await study.person("tess").join(assistants)
        try await study.person("ann").join(assistants)
        try await prof.request(ChangeClassRole(of: "ann", in: id, to: .student))
        // The second one changes nothing.
        for _ in 0..<2 { try await prof.request(UpdateClass(id, ClassEdit(name: "Waves"))) }
        try await prof.request(RemoveClassKey(key.id, of: id))
        try await prof.request(RemoveClassMember("ann", from: id))
        _ = try await study.client.request(
            GiveClass(id, to: "eve"), context: CallerContext(actor: "cli:root", address: "local"))
        return [key, assistants, replaced].map(\.code.text)
    }

    @Test(
        "It has classes, keys and roles, with who and from where; but no code, and nobody who joined",
        arguments: StoreKind.ofRules)
    func entries(kind: StoreKind) async throws {
        let (codes, entries) = try await RunningStudy.recorded(kind) { study in try await Self.changes(of: study) }
        #expect(
            entries.map(\.action) == [
                "class.add", "class_key.add", "class_key.add", "class_key.replace", "class_member.update", "class_member.update",
                "class_member.update", "class.update", "class_key.remove", "class_member.remove", "class.give",
            ])
        let roles = entries.filter { $0.action == "class_member.update" }
        #expect(roles.map { $0.before?["role"]?.string } == [nil, "student", "ta"])
        #expect(roles.map { $0.after?["role"]?.string } == ["ta", "ta", "student"])
        #expect(roles.map(\.actor) == ["tess", "ann", "prof"])
        #expect(entries.dropLast().allSatisfy { $0.address == "192.0.2.1" })
        let given = try #require(entries.last)
        #expect(given.actor == "cli:root")
        #expect(given.before?["professor"]?.string == "prof" && given.after?["professor"]?.string == "eve")
        let update = try #require(entries.first { $0.action == "class.update" })
        #expect(update.before?["name"]?.string == "Physics" && update.after?["name"]?.string == "Waves")
        for entry in entries {
            try entry.check()
            let text = String(decoding: try JSONCoder.encode(entry), as: UTF8.self)
            for code in codes { #expect(!text.contains(code) && !text.contains(code.replacing("-", with: ""))) }
        }
    }
}
