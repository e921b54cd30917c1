/// A tree as a field of a type. ``JSONCoder`` keeps the digits of numbers. Other coders, such as BSON's, convert numbers to their
/// own types.
extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        if let decoder = decoder as? DocumentDecoder {
            let document = decoder.document.pointee
            document.markAsRead(decoder.node)
            self = JSONValue(node: decoder.node, of: document)
        } else if let container = try? decoder.container(keyedBy: PathStep.self) {
            self = .object(
                try container.allKeys.map { Member($0.stringValue, try container.decode(JSONValue.self, forKey: $0)) })
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .boolean(value) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(Double.self) { return .number(value.description) }
        return .string(try container.decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: PathStep.self)
            for member in members { try container.encode(member.value, forKey: PathStep(member.name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .number(let digits):
            if let encoder = encoder as? DocumentEncoder { return try encoder.encode(digits: digits) }
            try Self.encode(number: digits, to: encoder.singleValueContainer())
        case .string(let text): try encode(text, to: encoder.singleValueContainer())
        case .boolean(let value): try encode(value, to: encoder.singleValueContainer())
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    private static func encode(number digits: String, to container: any SingleValueEncodingContainer) throws {
        var container = container
        if let integer = Int64(digits) {
            try container.encode(integer)
        } else if let number = Double(digits) {
            try container.encode(number)
        }
    }

    private func encode(_ value: some Encodable, to container: any SingleValueEncodingContainer) throws {
        var container = container
        try container.encode(value)
    }
}
