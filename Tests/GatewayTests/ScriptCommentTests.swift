import Foundation
import Pages
import Testing

@testable import Gateway

/// What browsers get of a script.
@Suite("Script comments")
struct ScriptCommentTests {
    @Test("Lines that are only comments become empty, and everything else stays in its line")
    func removed() {
        let script = """
            // First.
            import { a } from "./a.js"; // stays
            /** One line. */
            /*
             * Several
             lines. */
              /** Indented,
               * and longer.
               */
              const b = a /* stays */ * 2;
            /* a */ const c = "https://example.edu/*";
            const d = 4 //
              / 2;

            """
        let expected = """

            import { a } from "./a.js"; // stays







              const b = a /* stays */ * 2;
            /* a */ const c = "https://example.edu/*";
            const d = 4 //
              / 2;

            """
        #expect(String(decoding: ScriptComments.removed(from: Data(script.utf8)), as: UTF8.self) == expected)
        #expect(ScriptComments.removed(from: Data()).isEmpty)
    }

    @Test(
        "No script has a text over several lines of which a line begins as a comment",
        arguments: ["Shared/Pages/Files", "Shared/App/Files", "Services/Gateway/Portal/Files", "Services/Gateway/App/AppFiles"])
    func texts(folder: String) throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let site = try Site(reading: [PageFolder(path: root.appending(path: folder).path)])
        for (path, script) in site.files where path.hasSuffix(".js") {
            let lines = script.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let kept = ScriptComments.removed(from: script).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            #expect(lines.count == kept.count, "\(path)")
            var marks = 0
            for (number, (line, rest)) in zip(lines, kept).enumerated() {
                if !line.isEmpty, rest.isEmpty { #expect(marks % 2 == 0, "\(path):\(number + 1)") }
                marks += rest.count { $0 == UInt8(ascii: "`") }
            }
        }
    }
}
