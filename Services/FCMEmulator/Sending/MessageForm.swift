/// The form of a protobuf message in JSON: its fields by their snake_case names, with their types.
struct MessageForm: Sendable {
    /// The message's full type name, which Google's errors quote.
    let type: String
    let fields: [String: FieldForm]
    /// Maps both spellings of each name to the snake_case one.
    private let names: [String: String]

    init(_ type: String, _ fields: [String: FieldForm]) {
        self.type = type
        self.fields = fields
        var names: [String: String] = [:]
        for name in fields.keys {
            names[name] = name
            names[Self.camelCase(name)] = name
        }
        self.names = names
    }

    /// The snake_case name of a field that was sent in either spelling; `nil` for an unknown one.
    func name(of sent: String) -> String? { names[sent] }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

/// The type of one field of a message.
indirect enum FieldForm: Sendable {
    case string
    case boolean
    case int32
    case float
    /// One of the values, in upper or lower case. The first one has the number 0.
    case enumeration(type: String, values: [String])
    /// `"3.5s"`.
    case duration
    /// RFC 3339.
    case timestamp
    /// An object whose every value is a string.
    case stringMap
    /// Any object.
    case structure
    case message(MessageForm)
    case list(FieldForm)
}
