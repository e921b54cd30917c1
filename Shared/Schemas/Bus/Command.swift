package import FoundationEssentials
import JSON

/// A command on the bus: its name, its payload (the type itself as JSON) and the type of its reply.
package protocol Command: Codable, Sendable {
    /// The type of the reply's payload.
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

    /// Reads a reply's payload.
    ///
    /// - Throws: ``SchemaViolation``.
    static func reply(payload: Data) throws -> Reply

    /// A reply's payload.
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

/// The reply of a command without a result: `{}`.
package struct Done: Codable, Hashable, Sendable {
    package init() {}
}
