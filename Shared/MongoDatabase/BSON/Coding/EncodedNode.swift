import FoundationEssentials
import Schemas

/// A value that is being encoded. Containers fill it in any order that `encode(to:)` chooses.
final class EncodedNode {
    private enum Content {
        case nothing
        case value(BSONValue)
        case fields([(key: String, node: EncodedNode)])
        case elements([EncodedNode])
    }

    private var content = Content.nothing

    /// The encoded content. A type that encodes nothing is an empty document, as in JSON.
    var value: BSONValue {
        switch content {
        case .nothing: .document([:])
        case .value(let value): value
        case .fields(let fields): .document(BSONDocument(fields.lazy.map { ($0.key, $0.node.value) }))
        case .elements(let elements): .array(elements.map(\.value))
        }
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }

    func set(_ value: BSONValue) {
        content = .value(value)
    }

    func becomeDocument() {
        if case .fields = content { return }
        content = .fields([])
    }

    func becomeArray() {
        if case .elements = content { return }
        content = .elements([])
    }

    /// The node of a new field, which replaces an earlier one of the same name.
    func field(_ key: any CodingKey, at path: [any CodingKey]) throws -> EncodedNode {
        let name = key.stringValue
        guard !name.hasPrefix("$"), !name.utf8.contains(0), !path.isEmpty || !name.contains(".") else {
            throw BSONError(at: path, "MongoDB reserves the field name \"\(name.prefix(100))\"")
        }
        let node = EncodedNode()
        if case .fields(var fields) = content {
            content = .nothing
            if let index = fields.firstIndex(where: { $0.key == name }) {
                fields[index].node = node
            } else {
                fields.append((name, node))
            }
            content = .fields(fields)
        }
        return node
    }

    func element() -> EncodedNode {
        let node = EncodedNode()
        if case .elements(var elements) = content {
            content = .nothing
            elements.append(node)
            content = .elements(elements)
        }
        return node
    }

    func fill<Value: Encodable>(with value: Value, at path: [any CodingKey]) throws {
        guard path.count <= BSONCoder.maxDepth else { throw BSONError(at: Array(path.prefix(3)), "it is nested too deeply") }
        switch value {
        case let id as ObjectID: set(.objectID(id))
        case let date as Date: set(.foreign(.date, bytes: Self.bytes(of: date.unixMilliseconds.rawValue)[...]))
        case let data as Data: set(.foreign(.binary, bytes: (Self.bytes(of: Int32(data.count)) + [0] + data)[...]))
        default: try value.encode(to: BSONValueEncoder(node: self, codingPath: path))
        }
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
