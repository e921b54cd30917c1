/// What the API's document says about a route beyond its declaration and its types.
struct RouteDocumentation: Sendable {
    /// A few words, such as "Send a message".
    let summary: String
    /// Further sentences, in Markdown; may be empty.
    let details: String
    /// The types of the path's parameters that are not ObjectIds, by name.
    let path: [String: any Route.Document.Type]
    /// The headers that the route reads.
    let headers: [RequestHeader]
    /// The headers of the answer.
    let answerHeaders: [AnswerHeader]
    /// Other answers than the declared one that are not problems.
    let otherAnswers: [AnswerForm]
    /// The route's own problems. ``Route/problems`` adds those that follow from the declaration.
    let problems: [ProblemKind]
    /// Whether it calls a service, and so has the problems of the bus.
    let callsServices: Bool
}

extension Route {
    /// The route with its documentation. A route without one fails a test.
    ///
    /// The document says by itself what the declaration and the types say: the right, the parameters, the limits of texts and
    /// numbers, and the problems that follow from them. The limits come from the types' `check()`.
    ///
    /// - Parameters:
    ///   - summary: A few words, such as "Send a message".
    ///   - details: Further sentences, in Markdown.
    ///   - path: The types of the path's parameters that are not ObjectIds, by name: `["account": AccountName.self]`.
    ///   - headers: The headers that it reads.
    ///   - answerHeaders: The headers of its answer.
    ///   - also: Other answers than the declared one that are not problems, such as 304.
    ///   - problems: Problems that do not follow from the declaration, such as `conflict`.
    ///   - callsServices: Whether it calls a service, and so can answer `service-unavailable`.
    func documented(
        _ summary: String, _ details: String = "", path: [String: any Document.Type] = [:], headers: [RequestHeader] = [],
        answerHeaders: [AnswerHeader] = [], also: [AnswerForm] = [], problems: [ProblemKind] = [], callsServices: Bool = true
    ) -> Route {
        var route = self
        route.documentation = RouteDocumentation(
            summary: summary, details: details, path: path, headers: headers, answerHeaders: answerHeaders, otherAnswers: also,
            problems: problems, callsServices: callsServices)
        return route
    }
}
