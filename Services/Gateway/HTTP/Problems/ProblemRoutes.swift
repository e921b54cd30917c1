import HTTPTypes

/// The catalogue of problems over HTTP: the `type` of a problem document is the path of its entry.
struct ProblemRoutes: Feature {
    var section: APISection {
        APISection(
            "Problems",
            "Each error is a problem document (RFC 9457). Its `type` says which kind of problem it is, and `field` where.")
    }

    var routes: [Route] {
        [
            Route(.get, "/problems", right: .anyone, answer: .ok([ProblemEntry].self)) { _ in
                Answer(ProblemKind.allCases.map(ProblemEntry.init))
            }.documented("List the kinds of problems", callsServices: false),
            Route(.get, "/problems/:kind", right: .anyone, answer: .ok(ProblemEntry.self)) { call in
                guard let kind = call.parameter("kind").flatMap(ProblemKind.init(rawValue:)) else {
                    throw Problem(.notFound, "There is no such kind of problem; /problems lists all kinds.")
                }
                return Answer(ProblemEntry(kind))
            }.documented(
                "Read one kind of problem", "The `type` of a problem document is this path.", path: ["kind": ProblemKind.self],
                callsServices: false),
        ]
    }

    private struct ProblemEntry: Codable {
        let type: String
        let title: String
        let status: Int

        init(_ kind: ProblemKind) {
            type = kind.type
            title = kind.title
            status = kind.status.code
        }
    }
}
