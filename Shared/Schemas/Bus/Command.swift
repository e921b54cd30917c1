package import FoundationEssentials
package import JSON

/// One thing that a service can be asked to do over the bus: a name, a payload (the type itself, as JSON) and the shape of
/// the answer.
package protocol Command: Codable, Sendable {
    /// What the answer carries.
    associatedtype Reply: Codable & Sendable

    /// The name in the request's header, such as `area.add`.
    static var name: String { get }

    /// Reads a request's payload.
    ///
    /// - Throws: ``SchemaViolation``.
    init(payload: Data) throws

    /// The request's payload.
    ///
    /// - Throws: An encoder's error.
    func payload() throws -> Data

    /// Reads an answer's payload.
    ///
    /// - Throws: ``SchemaViolation``.
    static func reply(payload: Data) throws -> Reply

    /// An answer's payload.
    ///
    /// - Throws: An encoder's error.
    static func payload(of reply: Reply) throws -> Data
}

extension Command {
    package init(payload: Data) throws { self = try JSONCoder.decodeStrictly(from: payload) }
    package func payload() throws -> Data { try JSONCoder.encode(self) }
    package static func reply(payload: Data) throws -> Reply { try JSONCoder.decode(from: payload) }
    package static func payload(of reply: Reply) throws -> Data { try JSONCoder.encode(reply) }
}

/// The answer to a command that has nothing to tell: `{}`.
package struct Done: Codable, Hashable, Sendable {
    package init() {}
}
