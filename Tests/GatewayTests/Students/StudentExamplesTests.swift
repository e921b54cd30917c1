import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Gateway

/// The examples of API.md about students, as somebody runs them by curl.
@Suite("Examples of students by curl", .timeLimit(.minutes(10)))
struct StudentExamplesTests {
    /// The examples need a password, and a proof of a person who stays.
    private static let withoutExample: Set = ["POST /user/erasure"]

    /// The examples of the section, one after another.
    private static func script() throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "Services/Gateway/API.md"), encoding: .utf8)
        let section = try #require(text.firstMatch(of: /\n## Students\n(?s)(.*?)\n## Errors\n/)).1
        return section.matches(of: /```bash\n(?s)(.*?)```/).map { String($0.1) }.joined()
    }

    @Test("They work, one after another")
    func examples() async throws {
        try await RunningGateway.with(people: RunningGateway.someProvider) { gateway in
            try await withTemporaryFolder { folder in
                let script = """
                    set -euo pipefail
                    cd \(folder)
                    hub() { curl -fsS -w '\\n' -H @<(echo "Authorization: Bearer $TOKEN") "$url$1" "${@:2}"; }
                    \(try Self.script().replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(gateway.port)"))
                    """
                let environment = ProcessInfo.processInfo.environment.merging(["TOKEN": gateway.token ?? ""]) { $1 }
                let bash = try await ChildProcess(
                    URL(filePath: "/bin/bash"), ["-c", script], environment: environment, logFile: folder + "/output.log")
                let status = await bash.end()
                #expect(status == 0, "\(bash.log)")
                #expect(bash.log.contains(#""friends":["bob-roy"]"#) && bash.log.contains(#""professor":true"#), "\(bash.log)")
                let export = try Data(contentsOf: URL(filePath: folder + "/ann-lee.zip"))
                #expect(export.starts(with: Data("PK".utf8)))
            }
        }
    }

    @Test("There is one for each route of students")
    func routes() async throws {
        let commands = try Self.script().split(separator: "\n").flatMap { $0.split(separator: "| ") }
        let routes = try await Features.alone { features in
            features.routes.filter { route in
                ["/user", "/access-codes", "/account/import", "/account/:account/devices", "/account/:account/erasure"]
                    .contains { route.path.hasPrefix($0) }
            }
        }
        for route in routes where !Self.withoutExample.contains("\(route.method) \(route.path)") {
            let path = route.path.replacing(/:\w+/) { _ in "[^/?\"' ]+" }
            // A command substitution in a path has blanks.
            let pattern = try Regex("[ /l\"']\(path)([\"'? ]|$)")
            let found = commands.contains { command in
                let plain = command.replacing(/\$\([^()]*\)/) { _ in "x" }
                return plain.firstMatch(of: pattern) != nil && Self.method(of: plain) == route.method.rawValue
            }
            #expect(found, "\(route.method) \(route.path) has no example in API.md")
        }
    }

    /// The method of a curl's request.
    private static func method(of command: Substring) -> String {
        if let given = command.firstMatch(of: /-X ([A-Z]+)/) { return String(given.1) }
        return command.contains("--json") ? "POST" : "GET"
    }
}
