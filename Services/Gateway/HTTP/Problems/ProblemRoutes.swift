import HTTPTypes

/// The catalogue of problems over HTTP: the `type` of a problem document is the path of its entry.
struct ProblemRoutes: Feature {
    var routes: [Route] {
        [
            Route(.get, "/problems", right: .anyone, answer: .ok([ProblemEntry].self)) { _ in
                Answer(ProblemKind.allCases.map(ProblemEntry.init))
            },
            Route(.get, "/problems/:kind", right: .anyone, answer: .ok(ProblemEntry.self)) { call in
                guard let kind = call.parameter("kind").flatMap(ProblemKind.init(rawValue:)) else {
                    throw Problem(.notFound, "There is no such kind of problem; /problems lists all kinds.")
                }
                return Answer(ProblemEntry(kind))
            },
        ]
    }

    private struct ProblemEntry: Encodable {
        let type: String
        let title: String
        let status: Int

        init(_ kind: ProblemKind) {
            type = "/problems/\(kind.rawValue)"
            title = kind.title
            status = kind.status.code
        }
    }
}
