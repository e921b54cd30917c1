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

    /// The examples of a section, one after another.
    private static func blocks(of title: String) throws -> [String] {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "Services/Gateway/API.md"), encoding: .utf8)
        let sections = text.split(separator: "\n## ").filter { $0.hasPrefix(title + "\n") }
        let section = try #require(sections.first, "API.md has no section \(title)")
        return section.matches(of: /```bash\n(?s)(.*?)```/).map { String($0.1) }
    }

    /// Runs examples in a folder. They have to succeed.
    ///
    /// - Returns: What they have said.
    private func run(_ blocks: [String], in folder: String, at gateway: RunningGateway) async throws -> String {
        // A reader of the document waits for a sign of life. The beginning is enough here.
        let commands = blocks.joined().replacing("timeout 6 ", with: Level.isAll ? "timeout 6 " : "timeout 1 ")
        let script = """
            set -euo pipefail
            cd \(folder)
            hub() { curl -fsS -w '\\n' -H @<(echo "Authorization: Bearer $TOKEN") "$url$1" "${@:2}"; }
            \(commands.replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(gateway.port)"))
            """
        let own = ProcessInfo.processInfo.environment
        // The examples start Python dozens of times, and that of a version manager starts slowly.
        let environment = own.merging(["TOKEN": gateway.token ?? "", "PATH": "/usr/bin:" + (own["PATH"] ?? "/bin")]) { $1 }
        let bash = try await ChildProcess(
            URL(filePath: "/bin/bash"), ["-c", script], environment: environment, logFile: folder + "/output.log")
        let status = await bash.end()
        #expect(status == 0, "\(bash.log)")
        return bash.log
    }

    @Test("They work, one after another")
    func examples() async throws {
        try await RunningGateway.withStudy(people: RunningGateway.someProvider) { gateway in
            try await withTemporaryFolder { folder in
                let log = try await run(Self.blocks(of: "Students"), in: folder, at: gateway)
                #expect(log.contains(#""friends":["bob-roy"]"#) && log.contains(#""professor":true"#), "\(log)")
                let export = try Data(contentsOf: URL(filePath: folder + "/ann-lee.zip"))
                #expect(export.starts(with: Data("PK".utf8)))
            }
        }
    }

    @Test("There is one for each route of students")
    func routes() async throws {
        let routes = try await Features.alone { features in
            features.routes.filter { route in
                !route.isOfStudy
                    && ["/user", "/access-codes", "/account/import", "/account/:account/devices", "/account/:account/erasure"]
                        .contains { route.path.hasPrefix($0) }
            }
        }
        try Self.expectExamples(of: routes, in: "Students")
    }

    @Test("There is one for each route of classes and study sessions")
    func study() async throws {
        let routes = try await Features.alone { $0.routes.filter(\.isOfStudy) }
        try Self.expectExamples(of: routes, in: "Study sessions")
    }

    private static func expectExamples(of routes: [Route], in section: String) throws {
        let commands = try blocks(of: section).joined().split(separator: "\n").flatMap { $0.split(separator: "| ") }
        for route in routes where !withoutExample.contains("\(route.method) \(route.path)") {
            let path = route.path.replacing(/:\w+/) { _ in "[^/?\"' ]+" }
            // A command substitution in a path has blanks.
            let pattern = try Regex("[ /l\"']\(path)([\"'? ]|$)")
            let found = commands.contains { command in
                let plain = command.replacing(/\$\([^()]*\)/) { _ in "x" }
                return plain.firstMatch(of: pattern) != nil && method(of: plain) == route.method.rawValue
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
