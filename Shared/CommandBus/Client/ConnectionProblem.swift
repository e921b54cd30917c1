/// Why there is no connection to a service, in words for the operator.
struct ConnectionProblem: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String
}
