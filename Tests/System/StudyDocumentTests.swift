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
            Route(method: "POST", path: session + "/posts"),
        ]

        /// What no example can show: a slow or broken connection, a hub in trouble, and too many requests. `AbsentStudyTests` has 503.
        private static let trouble: Set<Int> = [408, 429, 431, 500, 503, 504, 507]
        /// What takes more than examples have: a provider that knows somebody who has no account, and fifty requests of friendship.
        private static let withoutExample: [Route: Set<Int>] = [
            Route(method: "PUT", path: "/user"): [404], Route(method: "POST", path: "/user/friends"): [409],
        ]
        /// What every route answers to those whom it is not for, and to wrong bodies: see ``expectRefusals(of:to:at:hasBody:)``.
        private static let ofEveryRoute: Set<Int> = ofBodies.union([401, 403])
        private static let ofBodies: Set<Int> = [413, 415]

        @Test(
            "Each works with the status that it names, and together they show each status that the API's document has for the seed's routes",
            .timeLimit(.minutes(10)))
        func examples() async throws {
            let settings = SystemTests.noLimits.merging(["MSI_REGISTRATION": "anyone", "MSI_STUDY_CLASSES": "2"]) { $1 }
            try await withStack(settings: settings) { stack in
                try await stack.healthy()
                let examples = try [DocumentExamples.persons()] + DocumentExamples.blocks(of: "## Study sessions")
                let requests = try await DocumentExamples.run((examples + [Self.further]).joined(), at: stack)
                // Without the mark, the body of a new class would not be read.
                let stranger = try await TestStudent.professor("stranger", at: stack.portal)
                #expect(requests.count > 100)
                let document = try await stack.portal.call(.GET, "/openapi.json").json
                for route in Self.seed {
                    let operation = document["paths"]?[route.path]?[route.method.lowercased()]
                    let documented = Set((operation?["responses"]?.members ?? []).compactMap { Int($0.name) })
                    #expect(!documented.isEmpty, "\(route) is not in the document")
                    let shown = route.statuses(in: requests)
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

        /// The token of a person's device is needed, except to get one, and a body is JSON of a bounded size.
        private func expectRefusals(
            of route: Route, to person: TestStudent, at stack: Stack, hasBody: Bool
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

extension DocumentExamples.Route {
    /// Who signs in or registers has no token yet.
    fileprivate var needsToken: Bool { path != "/user" }
}
