import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The examples of API.md about messages, statuses and pictures, as somebody runs them by curl against the whole product.
    @Suite("Messages, statuses and pictures by curl")
    struct MessagingDocumentTests {
        private static let heading = "## Messages, statuses, pictures"
        /// The seed's names. The other routes do the same.
        private static let seed: [(String, String)] = [
            ("POST", "/sendMessage"), ("GET", "/getMessage"), ("POST", "/sendStatus"), ("GET", "/getStatus"),
            ("POST", "/addFriend"), ("GET", "/getFriends"),
        ]
        /// The names that its operations have in the API's document.
        private static let operations: [(String, String, String)] = [
            ("sendMessage", "post", "/user/messages"), ("getMessage", "get", "/user/messages"),
            ("sendStatus", "post", "/user/status"), ("getStatus", "get", "/user/statuses"),
            ("addFriend", "post", "/user/friends"), ("getFriends", "get", "/user/friends"),
        ]
        private static let others: [(String, String)] = [
            ("POST", "/user/messages"), ("GET", "/user/messages"), ("PUT", "/user/messages/received"),
            ("GET", "/user/conversations/{account}"), ("PUT", "/user/messages/{id}/read"),
            ("GET", "/user/messages/{id}/picture"), ("POST", "/user/status"), ("GET", "/user/statuses"), ("GET", "/user/status"),
            ("DELETE", "/user/status"), ("PUT", "/user/statuses/seen"), ("GET", "/user/statuses/{id}/picture"),
            ("POST", "/user/pictures"), ("PUT", "/user/picture"), ("DELETE", "/user/picture"),
            ("GET", "/users/{account}/picture"), ("POST", "/user/reports"), ("GET", "/user/messaging"),
            ("PUT", "/user/messaging"), ("GET", "/reports"), ("GET", "/reports/{id}"), ("PUT", "/reports/{id}/closed"),
            ("GET", "/storage"), ("GET", "/calls"),
        ]

        @Test(
            "Each works with the status that it names. Each route has one, and so has each name of the seed",
            .timeLimit(.minutes(10)))
        func examples() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let script = try ([DocumentExamples.persons()] + DocumentExamples.blocks(of: Self.heading)).joined()
            let requests = try await DocumentExamples.run(script, at: stack)
            let document = try await stack.portal.call(.GET, "/openapi.json").json
            for (method, path) in Self.seed + Self.others {
                let route = DocumentExamples.Route(method: method, path: path)
                let made = requests.filter(route.matches)
                // One without a status was made with -f.
                #expect(made.contains { ($0.status ?? 200) < 300 }, "\(route) has no example that works")
                let documented = Self.statuses(of: route, in: document)
                #expect(!documented.isEmpty, "\(route) is not in the document")
                let shown = route.statuses(in: requests)
                #expect(shown.isSubset(of: documented), "\(route): \(shown) is not all documented")
            }
            for (name, method, path) in Self.operations {
                #expect(document["paths"]?[path]?[method]?["operationId"]?.string == name)
            }
        }

        /// The statuses of a route, whatever its parameters are called.
        private static func statuses(of route: DocumentExamples.Route, in document: JSONValue) -> Set<Int> {
            let wanted = route.path.split(separator: "/")
            let path = document["paths"]?.members?.first { member in
                let found = member.name.split(separator: "/")
                return found.count == wanted.count
                    && zip(found, wanted).allSatisfy { $0 == $1 || $0.hasPrefix("{") && $1.hasPrefix("{") }
            }
            let responses = path?.value[route.method.lowercased()]?["responses"]?.members ?? []
            return Set(responses.compactMap { Int($0.name) })
        }
    }
}
