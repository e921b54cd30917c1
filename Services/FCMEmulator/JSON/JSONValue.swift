/// A JSON document that keeps the order of members and the digits of numbers.
///
/// FCM's error texts name a map's entries by position, and quote numbers as written. Foundation's decoders keep neither.
enum JSONValue: Hashable, Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    /// The digits as written.
    case number(String)
    case boolean(Bool)
    case null

    struct Member: Hashable, Sendable {
        let name: String
        let value: JSONValue

        init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// A member of an object; the last one if the name is repeated. `nil` if the member is missing or this is no object.
    subscript(name: String) -> JSONValue? {
        members?.last { $0.name == name }?.value
    }

    var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A number's digits.
    var number: String? {
        if case .number(let digits) = self { digits } else { nil }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .boolean(value) }

    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
