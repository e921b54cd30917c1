package import Schemas

/// A value that can be indexed: it sorts the same way in both databases.
package protocol IndexValue: BSONConvertible, Hashable, Sendable {
    /// The value that sorts first.
    static var lowest: BSONValue { get }
}

extension ObjectID: IndexValue {
    package static var lowest: BSONValue { .objectID(ObjectID(bytes: [UInt8](repeating: 0, count: 12)) ?? ObjectID()) }
}

extension String: IndexValue {
    package static var lowest: BSONValue { "" }
}

extension Int64: IndexValue {
    package static var lowest: BSONValue { .int64(.min) }
}

extension UnixMilliseconds: IndexValue {
    package static var lowest: BSONValue { Int64.lowest }
}

extension Bool: IndexValue {
    package static var lowest: BSONValue { false }
}

extension TopicKey: IndexValue {
    package static var lowest: BSONValue { "" }
}

/// An enumeration of strings needs only `extension Role: IndexValue {}`.
extension IndexValue where Self: CaseIterable & RawRepresentable, RawValue == String {
    package static var lowest: BSONValue { "" }
    package static var expectedBSON: String { "one of " + allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") }
    package var bson: BSONValue { .string(rawValue) }

    package init?(bson: BSONValue) {
        guard case .string(let text) = bson else { return nil }
        self.init(rawValue: text)
    }
}

/// A field of a document that indexes and queries can use: its stored name and its property.
///
///     static let owner = Field("owner", \Device.owner)
package struct Field<Document, Value: IndexValue>: Sendable {
    let form: FieldForm
    private let path: @Sendable (Document) -> Value?

    /// - Parameter name: The stored name; with dots for a field of an inner document: `topic.channel`.
    package init(_ name: String, _ path: any KeyPath<Document, Value> & Sendable) {
        form = FieldForm(name: name, lowest: Value.lowest, isOptional: false)
        self.path = { $0[keyPath: path] }
    }

    /// - Parameter name: The stored name; with dots for a field of an inner document: `topic.channel`.
    package init(_ name: String, _ path: any KeyPath<Document, Value?> & Sendable) {
        form = FieldForm(name: name, lowest: Value.lowest, isOptional: true)
        self.path = { $0[keyPath: path] }
    }

    /// The field's stored value.
    func bson(of document: Document) -> BSONValue { path(document)?.bson ?? .null }
}

/// A field without its Swift type, for the databases.
struct FieldForm: Hashable, Sendable {
    /// A path, joined by dots.
    let name: String
    let lowest: BSONValue
    let isOptional: Bool

    init(name: String, lowest: BSONValue, isOptional: Bool) {
        precondition(
            !name.isEmpty && name.utf8.allSatisfy { $0.isFieldCharacter }, "\(name) is no field name: letters, digits, _ and dots"
        )
        self.name = name
        self.lowest = lowest
        self.isOptional = isOptional
    }

    /// The field that identifies documents.
    static func identifier(_ lowest: BSONValue) -> FieldForm {
        FieldForm(name: Envelope.identifier, lowest: lowest, isOptional: false)
    }

    /// The field's value in a stored document; null if it is absent.
    func value(in document: BSONDocument) throws -> BSONValue {
        var value = BSONValue.document(document)
        for part in name.split(separator: ".") {
            guard case .document(let inner) = value else { return .null }
            value = try BSONFields(inner)[String(part)] ?? .null
        }
        return value
    }
}

extension UInt8 {
    fileprivate var isFieldCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
