package import FoundationEssentials

/// Trees from text, and text from trees.
extension JSONValue {
    /// Reads a whole document.
    package init(parsing json: some Collection<UInt8>, rules: JSONRules = .strict) throws(JSONSyntaxError) {
        let parsed = json.withContiguousStorageIfAvailable { Self.parse(UnsafeRawBufferPointer($0), rules) }
        self = try (parsed ?? Array(json).withUnsafeBytes { Self.parse($0, rules) }).get()
    }

    private static func parse(_ json: UnsafeRawBufferPointer, _ rules: JSONRules) -> Result<JSONValue, JSONSyntaxError> {
        var scanner = DocumentScanner(json, rules: rules)
        do throws(JSONSyntaxError) {
            try scanner.scan()
        } catch {
            return .failure(error)
        }
        return scanner.nodes.withUnsafeMutableBufferPointer { nodes in
            .success(JSONValue(node: 0, of: JSONDocument(bytes: json, nodes: nodes, strictness: .lenient)))
        }
    }

    /// The document without spaces, with its fields in their order.
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The bytes of ``text``.
    package var utf8: [UInt8] { Array(data) }

    /// The bytes of ``text``.
    package var data: Data {
        var json = JSONBytes(capacity: 256)
        write(to: &json)
        return json.data()
    }

    package func write(to json: inout JSONBytes) {
        switch self {
        case .object(let members):
            json.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json.append(text: member.name)
                json.append(UInt8(ascii: ":"))
                member.value.write(to: &json)
            }
            json.append(UInt8(ascii: "}"))
        case .array(let elements):
            json.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                element.write(to: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .string(let text): json.append(text: text)
        case .number(let digits): json.append(characters: digits)
        case .boolean(let value): json.append(value ? "true" : "false")
        case .null: json.append("null")
        }
    }
}

extension JSONValue {
    /// The tree of a value of a document.
    init(node: Int, of document: JSONDocument) {
        switch document.kind(node) {
        case .object:
            var members: [Member] = []
            members.reserveCapacity(Int(document.nodes[node].count))
            document.forEachName(in: node) { name in
                members.append(Member(document.text(name) ?? "", JSONValue(node: name + 1, of: document)))
            }
            self = .object(members)
        case .array:
            var elements: [JSONValue] = []
            elements.reserveCapacity(Int(document.nodes[node].count))
            var element = node + 1
            for _ in 0..<document.nodes[node].count {
                elements.append(JSONValue(node: element, of: document))
                element = Int(document.nodes[element].next)
            }
            self = .array(elements)
        case .text, .escapedText: self = .string(document.text(node) ?? "")
        case .shortInteger, .number: self = .number(String(decoding: document.raw(node), as: UTF8.self))
        case .true: self = .boolean(true)
        case .false: self = .boolean(false)
        case .null: self = .null
        }
    }
}

/// A tree as a field of a type. ``JSONCoder`` keeps the digits of numbers. Other coders, such as BSON's, convert numbers to their
/// own types.
extension JSONValue: Codable {
    /// A value as ``JSONCoder`` writes it.
    package init(encoding value: some Encodable) throws {
        self = try JSONCoder.decode(from: JSONCoder.encode(value))
    }

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
