package import FoundationEssentials
import Base

/// A command on the bus: its name, its payload (the type itself as JSON) and the type of its reply.
///
/// A command is declared as its fields, and needs no code to be read or written:
///
/// ```swift
/// package struct AddRoom: Command, Checked {
///     package static let name = "room.add"
///     package typealias Reply = Room
///
///     package let title: String
///     package let seats: Int?
///
///     private enum CodingKeys: String, CodingKey, CaseIterable {
///         case title, seats
///     }
///
///     package func check() throws(SchemaViolation) {
///         try TextLimits.title.check(title, CodingKeys.title)
///         try (1...1_000).check(seats, CodingKeys.seats)
///     }
/// }
/// ```
///
/// - The service reads the payload strictly. An unknown, missing, null or repeated field is `invalid`, and so is a value of another
///   type. The reply names the field.
/// - An optional property is a field that may be missing.
/// - ``Checked`` is for rules that types cannot express, such as the length of a text.
/// - With `CaseIterable` keys the error for an unknown field lists the known ones.
/// - Unknown fields of a reply are ignored, so that two versions can work side by side. ``Done`` is an empty reply.
/// - The caller's identity is not a field. It is the header's `actor`, which the handler requires with `context.requireActor()`.
///
/// The service registers a handler, `router.on(AddRoom.self) { command, context in … }`, and a client sends
/// `try await client.request(AddRoom(…))`. The methods below are for commands that need another coding, such as a faster one.
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

/// `bus.ping`: every service answers it, to show that it is alive.
package struct Ping: Command {
    package static let name = "bus.ping"
    package typealias Reply = Done

    package init() {}
}
