import HTTPTypes

extension Route {
    /// All kinds of problems that the route can answer with: those of every route, those that follow from its declaration, and its
    /// own.
    var problems: [ProblemKind] {
        var kinds = Set(Self.problemsOfEveryRoute + (documentation?.problems ?? []))
        // Also where no credential is needed: a bearer token that is given must be valid.
        if right != .anonymous { kinds.insert(.unauthenticated) }
        if right.requiresCredential { kinds.insert(.forbidden) }
        if isConfirmed { kinds.insert(.confirmationRequired) }
        if !pathParameters.isEmpty { kinds.insert(.notFound) }
        if body != nil { kinds.formUnion([.invalidJSON, .bodyTooLarge, .unsupportedMediaType]) }
        for header in documentation?.headers ?? [] { kinds.formUnion(header.problems) }
        if callsServices {
            kinds.formUnion([.serviceUnavailable, .serviceTimeout])
            if method != .get { kinds.insert(.storageFull) }
        }
        return ProblemKind.allCases.filter(kinds.contains)
    }

    /// Problems of the connection, the head and the number of requests, of a browser's page, and failures.
    private static let problemsOfEveryRoute: [ProblemKind] = [
        .malformedRequest, .invalidField, .originRefused, .insecureConnection, .requestTimeout, .headersTooLarge,
        .tooManyRequests, .overloaded, .internalError,
    ]

    private var callsServices: Bool { documentation?.callsServices ?? true }
}
