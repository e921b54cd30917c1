/// Any JSON value, for parts of a document whose form another system defines.
///
/// The members of an object have no order. Numbers are 64-bit integers or doubles: more digits than these hold are lost.
package enum AnyJSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    /// A member of an object; `nil` for a missing one, and for anything but an object.
    package subscript(name: String) -> AnyJSON? { members?[name] }

    package var members: [String: AnyJSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [AnyJSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

extension AnyJSON: Codable {
    package init(from decoder: any Decoder) throws {
        // To try one type after another would cost a search for the value's path at each failure.
        if decoder is DocumentDecoder { self.init(try JSONValue(from: decoder)); return }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    private init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .bool(value)
        case .number(let digits): self = Int64(digits).map { .integer($0) } ?? .number(Double(digits) ?? 0)
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { AnyJSON($0) })
        case .object(let members):
            self = .object(Dictionary(members.map { ($0.name, AnyJSON($0.value)) }) { _, last in last })
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension AnyJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: AnyJSON...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, AnyJSON)...) {
        self = .object(Dictionary(members) { _, last in last })
    }
}
