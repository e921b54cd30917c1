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
                // Ids, not the words of other routes: `/sessions/past` is no session.
                return method == self.method && wanted.count == found.count
                    && zip(wanted, found).allSatisfy { $0.hasPrefix("{") ? $1.allSatisfy(\.isHexDigit) : $0 == $1 }
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
            SeedRoute(method: "PUT", path: session), SeedRoute(method: "POST", path: session + "/invite"),
            SeedRoute(method: "POST", path: session + "/posts"),
        ]

        /// A status that no request of curl provokes here, and the tests that have it instead.
        private struct Elsewhere {
            let status: Int
            /// `nil` for all.
            var routes: [SeedRoute]?
            let reason: String
            let tests: String
        }

        private static let doubles = "StudyRoutesTests and PersonRoutesTests, by services that the tests make up"
        private static let elsewhere: [Elsewhere] = [
            Elsewhere(
                status: 404, routes: [SeedRoute(method: "PUT", path: "/user")],
                reason: "it takes a provider with a person who has no account", tests: "ProviderSignInTests, and \(doubles)"),
            Elsewhere(status: 408, reason: "a request would have to take ten seconds", tests: "ConnectionDeadlineTests"),
            Elsewhere(
                status: 409, routes: [SeedRoute(method: "POST", path: "/user/friends")],
                reason: "it takes fifty requests, and one may make thirty a minute", tests: "FriendLimitTests, and \(doubles)"),
            Elsewhere(
                status: 429, routes: seed.filter { !limited.contains($0) },
                reason: "the product of this test has no limits of requests", tests: "RequestLimitTests, and \(doubles)"),
            Elsewhere(status: 431, reason: "the head is refused before anybody knows its route", tests: "RequestLimitTests"),
            Elsewhere(status: 500, reason: "a service would have to fail", tests: doubles),
            Elsewhere(status: 503, reason: "a service would have to be away", tests: "AbsentStudyTests, and \(doubles)"),
            Elsewhere(
                status: 507, reason: "the disk would have to be full",
                tests: "FullDiskTests of the study and the people service, and \(doubles)"),
        ]

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
            "Each works with the status that it names. With what each route refuses, they show each status that the API's document has for the seed's routes, but those that other tests have",
            .timeLimit(.minutes(10)))
        func examples() async throws {
            let settings = SystemTests.noLimits.merging(["MSI_REGISTRATION": "anyone", "MSI_STUDY_CLASSES": "2"]) { $1 }
            try await withStack(settings: settings) { stack in
                try await stack.healthy()
                let document = try await stack.portal.call(.GET, "/openapi.json").json
                func operation(_ route: SeedRoute) -> JSONValue? { document["paths"]?[route.path]?[route.method.lowercased()] }
                let refusals = Self.seed.flatMap { route in
                    Self.refusals(of: route, at: stack, hasBody: operation(route)?["requestBody"] != nil)
                }
                let log = try await run(at: stack, refusals.joined(separator: "next\n"))
                let requests = Self.requests(in: log)
                #expect(requests.count > 200, "\(log.suffix(2_000))")
                for route in Self.seed {
                    let documented = Set((operation(route)?["responses"]?.members ?? []).compactMap { Int($0.name) })
                    #expect(!documented.isEmpty, "\(route) is not in the document")
                    let shown = Set(requests.filter { route.matches($0.method, $0.path) }.map(\.status))
                    #expect(shown.subtracting(documented).isEmpty, "\(route): \(shown) is not all documented")
                    let others = Self.elsewhere.filter { $0.routes?.contains(route) ?? true }
                    for other in others where shown.contains(other.status) {
                        Issue.record("\(route): \(other.status) is shown here, not only in \(other.tests): \(other.reason)")
                    }
                    let missing = documented.subtracting(shown).subtracting(others.map(\.status))
                    #expect(missing.isEmpty, "\(route): no example of \(missing.sorted())")
                }
            }
        }

        /// The requests that a route refuses, whatever it is about, as curl reads them from a file. Each prints the line of an example.
        private static func refusals(of route: SeedRoute, at stack: Stack, hasBody: Bool) -> [String] {
            let path = route.path.replacing(/\{\w+\}/, with: "6b0187feff0dafac2833f431")
            func request(by person: String, header: String? = nil, body: String = "{}") -> String {
                var lines = [
                    #"url = "http://127.0.0.1:\#(stack.portal.port)\#(path)""#, #"request = "\#(route.method)""#,
                    #"header = "@\#(person).header""#, #"output = "answer.json""#, "silent", "show-error",
                    #"write-out = "%{http_code} \#(person) \#(path) -X \#(route.method)\n""#,
                ]
                if let header { lines.append(#"header = "\#(header)""#) }
                if hasBody { lines.append(#"json = "\#(body)""#) }
                return lines.joined(separator: "\n") + "\n"
            }
            // 400: a proxy that the hub does not know.
            var requests = [request(by: "ada-poe", header: "X-Forwarded-For: 192.0.2.1")]
            // 401 and 403: the token of a person's device is needed, except to get one.
            if route.needsToken { requests += [request(by: "anyone"), request(by: "staff")] }
            // 413 and 415: a body is plain JSON of a bounded size.
            if hasBody {
                requests += [
                    request(by: "ada-poe", body: "@large.json"), request(by: "ada-poe", header: "Content-Encoding: gzip"),
                ]
            }
            return requests
        }

        /// - Parameter refusals: Requests that all use one curl, since each curl takes longer than its request.
        private func run(at stack: Stack, _ refusals: String) async throws -> String {
            let examples = try Self.script().replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(stack.portal.port)")
                // A reader of the document waits for a sign of life. The beginning is enough here.
                .replacing("timeout 6 ", with: Level.isAll ? "timeout 6 " : "timeout 1 ")
            return try await withTemporaryFolder { folder in
                try Data(refusals.utf8).write(to: URL(filePath: folder + "/refusals"))
                try Data((String(repeating: " ", count: 65_535) + "{}").utf8).write(to: URL(filePath: folder + "/large.json"))
                let script = """
                    set -euo pipefail
                    cd \(folder)
                    hub() { curl -fsS -w '\\n' -H @<(echo "Authorization: Bearer $TOKEN") "$url$1" "${@:2}"; }
                    \(examples)
                    echo "Authorization: Bearer $TOKEN" > staff.header
                    curl -K refusals
                    """
                let own = ProcessInfo.processInfo.environment
                // The examples start Python more than seventy times, and that of a version manager starts slowly.
                let environment = own.merging([
                    "TOKEN": stack.portal.token ?? "", "PATH": "/usr/bin:" + (own["PATH"] ?? "/bin"),
                ]) { $1 }
                let bash = try await ChildProcess(
                    URL(filePath: "/bin/bash"), ["-c", script], environment: environment, logFile: folder + "/output.log")
                let status = await bash.end()
                #expect(status == 0, "\(bash.log.suffix(2_000))")
                return bash.log
            }
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
