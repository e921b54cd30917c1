/// One thing that a service can be asked to do over the bus: a name, a payload (the type itself, as JSON) and the shape of
/// the answer.
package protocol Command: Codable, Sendable {
    /// What the answer carries.
    associatedtype Reply: Codable & Sendable

    /// The name in the request's header, such as `area.add`.
    static var name: String { get }
}

/// The answer to a command that has nothing to tell: `{}`.
package struct Done: Codable, Hashable, Sendable {
    package init() {}
}
