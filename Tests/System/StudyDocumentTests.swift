import Base
import Foundation
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// The examples of API.md about the routes of seed 002, as somebody runs them by curl against the whole product.
    @Suite("Study sessions by curl")
    struct StudyDocumentTests {
        /// A route of the seed's table, by its names in the OpenAPI document.
        private struct SeedRoute: Hashable {
            let method: String
            let path: String

            /// Who signs in or registers has no token yet.
            var needsToken: Bool { path != "/user" }

            /// Whether a request of the examples is for it.
            func matches(_ method: String, _ path: Substring) -> Bool {
                let (wanted, found) = (self.path.split(separator: "/"), path.split(separator: "/"))
                return method == self.method && wanted.count == found.count
                    && zip(wanted, found).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
            }
        }

        private static let session = "/classes/{classID}/sessions/{sessionID}"
        /// The routes of the seed's table.
        private static let seed: [SeedRoute] = seedTable.map { SeedRoute(method: $0.0, path: $0.1) }
        private static let seedTable: [(String, String)] = [
            ("PUT", "/user"), ("POST", "/user"), ("GET", "/user/classes"), ("POST", "/user/classes"), ("GET", "/user/friends"),
            ("POST", "/user/friends"), ("POST", "/class"), ("GET", "/classes/{classID}/sessions"),
            ("POST", "/classes/{classID}/sessions"), ("GET", session), ("POST", session), ("PUT", session), ("DELETE", session),
            ("POST", session + "/invite"), ("GET", session + "/posts"), ("POST", session + "/posts"),
            ("DELETE", session + "/posts"),
        ]
        /// Those that a person may ask for only so often within some minutes, whatever the hub's limits of requests are.
        private static let limited: [SeedRoute] = [
            SeedRoute(method: "POST", path: "/user/classes"), SeedRoute(method: "POST", path: "/user/friends"),
            SeedRoute(method: "POST", path: "/classes/{classID}/sessions"), SeedRoute(method: "POST", path: session),
            SeedRoute(method: "POST", path: session + "/posts"),
        ]

        /// What no example can show: a slow or broken connection, a hub in trouble, and too many requests. `AbsentStudyTests` has 503.
        private static let trouble: Set<Int> = [408, 429, 431, 500, 503, 504, 507]
        /// What takes more than examples have: a provider that knows somebody who has no account, and fifty requests of friendship.
        private static let withoutExample: [SeedRoute: Set<Int>] = [
            SeedRoute(method: "PUT", path: "/user"): [404], SeedRoute(method: "POST", path: "/user/friends"): [409],
        ]
        /// What every route answers to those whom it is not for, and to wrong bodies: see ``expectRefusals(of:to:at:hasBody:)``.
        private static let ofEveryRoute: Set<Int> = ofBodies.union([401, 403])
        private static let ofBodies: Set<Int> = [413, 415]

        /// The examples that make the persons, and those of the section, one after another.
        private static func script() throws -> String {
            let text = try String(contentsOfFile: BuiltProduct.packageFolder() + "Services/Gateway/API.md", encoding: .utf8)
            let students = try #require(text.firstMatch(of: /\n### By curl\n(?s)(.*?)\n## Study sessions\n/)).1
            let study = try #require(text.firstMatch(of: /\n## Study sessions\n(?s)(.*?)\n## Errors\n/)).1
            func examples(_ section: Substring) -> [String] {
                section.matches(of: /```bash\n(?s)(.*?)```/).map { String($0.1) }
            }
            let persons = try #require(examples(students).first, "they make Ann and Bob")
            return ([persons] + examples(study) + [further]).joined()
        }

        /// The requests of the examples by the lines that they print: `201 ann-lee /classes/…/sessions --json …`.
        private static func requests(in log: String) -> [(status: Int, method: String, path: Substring)] {
            log.split(separator: "\n").compactMap { line in
                let form = /^(\d{3}) [a-z-]+ (\/[^ ?]*)[^ ]*(.*)$/
                guard let request = line.firstMatch(of: form), let status = Int(request.1) else { return nil }
                let method = request.3.firstMatch(of: /-X ([A-Z]+)/).map { String($0.1) }
                return (status, method ?? (request.3.contains("--json") ? "POST" : "GET"), request.2)
            }
        }

        @Test(
            "Each works with the status that it names, and together they show each status that the API's document has for the seed's routes",
            .timeLimit(.minutes(10)))
        func examples() async throws {
            let settings = SystemTests.noLimits.merging(["MSI_REGISTRATION": "anyone", "MSI_STUDY_CLASSES": "2"]) { $1 }
            try await withStack(settings: settings) { stack in
                try await stack.healthy()
                let log = try await run(at: stack)
                // Without the mark, the body of a new class would not be read.
                let stranger = try await TestStudent.professor("stranger", at: stack.portal)
                let requests = Self.requests(in: log)
                #expect(requests.count > 100, "\(log.suffix(2_000))")
                let document = try await stack.portal.call(.GET, "/openapi.json").json
                for route in Self.seed {
                    let operation = document["paths"]?[route.path]?[route.method.lowercased()]
                    let documented = Set((operation?["responses"]?.members ?? []).compactMap { Int($0.name) })
                    #expect(!documented.isEmpty, "\(route) is not in the document")
                    let shown = Set(requests.filter { route.matches($0.method, $0.path) }.map(\.status))
                    #expect(shown.subtracting(documented).isEmpty, "\(route): \(shown) is not all documented")
                    // Without a parameter or a body there is nothing to be wrong.
                    let isPlain = operation?["requestBody"] == nil && !route.path.contains("{")
                    var needed = documented.subtracting(Self.trouble).subtracting(Self.withoutExample[route] ?? [])
                    needed.subtract(route.needsToken ? Self.ofEveryRoute : Self.ofBodies)
                    if isPlain { needed.remove(400) }
                    if Self.limited.contains(route) { needed.insert(429) }
                    #expect(needed.isSubset(of: shown), "\(route): no example of \(needed.subtracting(shown).sorted())")
                    try await expectRefusals(of: route, to: stranger, at: stack, hasBody: operation?["requestBody"] != nil)
                }
            }
        }

        private func run(at stack: Stack) async throws -> String {
            let examples = try Self.script().replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(stack.portal.port)")
            return try await withTemporaryFolder { folder in
                let script = """
                    set -euo pipefail
                    cd \(folder)
                    hub() { curl -fsS -w '\\n' -H @<(echo "Authorization: Bearer $TOKEN") "$url$1" "${@:2}"; }
                    \(examples)
                    """
                let environment = ProcessInfo.processInfo.environment.merging(["TOKEN": stack.portal.token ?? ""]) { $1 }
                let bash = try await ChildProcess(
                    URL(filePath: "/bin/bash"), ["-c", script], environment: environment, logFile: folder + "/output.log")
                let status = await bash.end()
                #expect(status == 0, "\(bash.log.suffix(2_000))")
                return bash.log
            }
        }

        /// The token of a person's device is needed, except to get one, and a body is JSON of a bounded size.
        private func expectRefusals(
            of route: SeedRoute, to person: TestStudent, at stack: Stack, hasBody: Bool
        ) async throws {
            let path = route.path.replacing(/\{\w+\}/, with: "6b0187feff0dafac2833f431")
            let method = HTTPMethod(rawValue: route.method)
            let body: JSONValue? = hasBody ? ["text": "x"] : nil
            if route.needsToken {
                let anonymous = try await stack.portal.with(token: nil).call(method, path, body)
                #expect(anonymous.status == 401, "\(route): \(anonymous)")
                let staff = try await stack.portal.call(method, path, body)
                #expect(staff.status == 403, "\(route): \(staff)")
            }
            guard hasBody else { return }
            let large = try await person.call(method, path, ["text": .string(String(repeating: "x", count: 65_537))])
            #expect(large.status == 413, "\(route): \(large)")
            let compressed = try await person.portal.call(method, path, headers: ["Content-Encoding": "gzip"], body)
            #expect(compressed.status == 415, "\(route): \(compressed)")
        }

        /// Joining one class too many, which takes more classes than the examples make. A person may be in two here.
        private static let further = #"""
            hub /account/tim-ray -X PUT --json '{"professor":true}'
            device=$(json device < tim-ray.json) nonce=$(nonce)
            proof=$(proof tim-ray token "$nonce" "$device")
            curl -fsS $url/user/token --json "{\"device\":\"$device\",\"nonce\":\"$nonce\",\"proof\":\"$proof\"}" > token.json
            echo "Authorization: Bearer $(json token < token.json)" > tim-ray.header
            for more in "ada-poe 201" "tim-ray 409"; do
                read -r person status <<< "$more"
                expect 201 $person /class --json "{\"name\":\"More\",\"identification_key\":\"MORE-$person\"}"
                expect 201 $person /classes/$(id)/keys --json '{"role":"student"}'
                expect $status ann-lee /user/classes --json "{\"key\":\"$(json code < answer.json)\"}"
            done

            """#
    }
}
