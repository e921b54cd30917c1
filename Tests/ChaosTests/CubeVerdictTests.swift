import Schemas
import Testing

@testable import Chaos

/// The checks of the cube of a chaos run, on evidence made by the tests.
@Suite("The verdict about the cube")
struct CubeVerdictTests {
    /// A run in which the channels `a` and `b` were added, and `b` was deleted. The channel `s` and what is in it were there before.
    private func problems(
        cube: Set<String> = ["a", "s", "s-1", "s-1-2"], _ change: (inout [AuditEntry]) -> Void = { _ in }
    ) -> [String] {
        var entries = [entry("channel.add", "s"), entry("area.add", "s-1"), entry("subject.add", "s-1-2")]
        entries += [entry("channel.add", "a"), entry("channel.add", "b"), entry("channel.delete", "b")]
        change(&entries)
        let edits = CubeEdits(added: ["a", "b"], deleted: ["b"])
        return CubeVerdict(edits, cube: CubeEvidence(paths: cube), audit: AuditEvidence(entries: entries)).problems
    }

    private func entry(_ action: String, _ path: String) -> AuditEntry {
        AuditEntry(by: .program, action: action, object: AuditObject(kind: "channel", id: path))
    }

    @Test("A cube with each added channel and an entry for each edit is right, even with a channel of an unanswered request")
    func right() {
        #expect(problems() == [])
        #expect(problems(cube: ["a", "s", "s-1", "s-1-2", "x"]) { $0.append(entry("channel.add", "x")) } == [])
        #expect(problems(cube: ["a", "s", "s-1"]) { $0.append(entry("subject.delete", "s-1-2")) } == [])
    }

    @Test("A lost channel, and one that was deleted and is there, are problems")
    func lost() {
        let edits = CubeEdits(added: ["a", "b"], deleted: ["b"])
        let lost = CubeVerdict(edits, cube: CubeEvidence(), audit: nil)
        #expect(lost.problems.count == 1 && lost.summary == "cube: added=2 deleted=1 lost=1")
        #expect(CubeVerdict(edits, cube: CubeEvidence(paths: ["a", "b"]), audit: nil).problems.count == 1)
    }

    @Test("A gateway whose copy is not the cube is a problem")
    func copy() {
        let edits = CubeEdits(added: ["a"], deleted: [])
        #expect(CubeVerdict(edits, cube: CubeEvidence(paths: ["a"], isCopied: false), audit: nil).problems.count == 1)
    }

    @Test("A missing entry, a second one, and one without an edit are problems")
    func audit() {
        for index in 0..<6 {
            #expect(!problems { $0.remove(at: index) }.isEmpty)
            #expect(!problems { $0.append($0[index]) }.isEmpty)
        }
        #expect(!problems { $0.append(entry("channel.add", "x")) }.isEmpty)
        #expect(!problems { $0.append(entry("channel.delete", "a")) }.isEmpty)
    }
}
