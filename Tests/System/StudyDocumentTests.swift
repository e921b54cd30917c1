import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// The examples of API.md about the routes of seed 002, as somebody runs them by curl against the whole product.
    @Suite("Study sessions by curl")
    struct StudyDocumentTests {
        private typealias Route = DocumentExamples.Route

        private static let session = "/classes/{classID}/sessions/{sessionID}"
        /// The routes of the seed's table.
        private static let seed: [Route] = seedTable.map { Route(method: $0.0, path: $0.1) }
        private static let seedTable: [(String, String)] = [
            ("PUT", "/user"), ("POST", "/user"), ("GET", "/user/classes"), ("POST", "/user/classes"), ("GET", "/user/friends"),
            ("POST", "/user/friends"), ("POST", "/class"), ("GET", "/classes/{classID}/sessions"),
            ("POST", "/classes/{classID}/sessions"), ("GET", session), ("POST", session), ("PUT", session), ("DELETE", session),
            ("POST", session + "/invite"), ("GET", session + "/posts"), ("POST", session + "/posts"),
            ("DELETE", session + "/posts"),
        ]
        /// Those that a person may ask for only so often within some minutes, whatever the hub's limits of requests are.
        private static let limited: [Route] = [
            Route(method: "POST", path: "/user/classes"), Route(method: "POST", path: "/user/friends"),
            Route(method: "POST", path: "/classes/{classID}/sessions"), Route(method: "POST", path: session),
            Route(method: "PUT", path: session), Route(method: "POST", path: session + "/invite"),
            Route(method: "POST", path: session + "/posts"),
        ]

        /// A status that no request of curl provokes here, and the tests that have it instead.
        private struct Elsewhere {
            let status: Int
            /// `nil` for all.
            var routes: [Route]?
            let reason: String
            let tests: String
        }

        private static let doubles = "StudyRoutesTests and PersonRoutesTests, by services that the tests make up"
        private static let elsewhere: [Elsewhere] = [
            Elsewhere(
                status: 404, routes: [Route(method: "PUT", path: "/user")],
                reason: "it takes a provider with a person who has no account", tests: "ProviderSignInTests, and \(doubles)"),
            Elsewhere(status: 408, reason: "a request would have to take ten seconds", tests: "ConnectionDeadlineTests"),
            Elsewhere(
                status: 409, routes: [Route(method: "POST", path: "/user/friends")],
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

        @Test(
            "Each works with the status that it names. With what each route refuses, they show each status that the API's document has for the seed's routes, but those that other tests have",
            .timeLimit(.minutes(10)))
        func examples() async throws {
            let settings = SystemTests.noLimits.merging(["MSI_REGISTRATION": "anyone", "MSI_STUDY_CLASSES": "2"]) { $1 }
            try await withStack(settings: settings) { stack in
                try await stack.healthy()
                let document = try await stack.portal.call(.GET, "/openapi.json").json
                func operation(_ route: Route) -> JSONValue? { document["paths"]?[route.path]?[route.method.lowercased()] }
                let refusals = Self.seed.flatMap { route in
                    Self.refusals(of: route, at: stack, hasBody: operation(route)?["requestBody"] != nil)
                }
                let examples = try [DocumentExamples.persons()] + DocumentExamples.blocks(of: "## Study sessions")
                let requests = try await DocumentExamples.run(
                    (examples + [Self.further, Self.refusing]).joined(), at: stack,
                    files: [
                        "refusals": refusals.joined(separator: "next\n"),
                        "large.json": String(repeating: " ", count: 65_535) + "{}",
                    ])
                #expect(requests.count > 200)
                for route in Self.seed {
                    let documented = Set((operation(route)?["responses"]?.members ?? []).compactMap { Int($0.name) })
                    #expect(!documented.isEmpty, "\(route) is not in the document")
                    let shown = route.statuses(in: requests)
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
        private static func refusals(of route: Route, at stack: Stack, hasBody: Bool) -> [String] {
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

        /// All refusals by one curl, since each curl takes longer than its request.
        private static let refusing = #"""
            echo "Authorization: Bearer $TOKEN" > staff.header
            curl -K refusals

            """#
    }
}

extension DocumentExamples.Route {
    /// Who signs in or registers has no token yet.
    fileprivate var needsToken: Bool { path != "/user" }
}
