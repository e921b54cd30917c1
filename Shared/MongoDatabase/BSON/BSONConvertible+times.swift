package import Schemas
package import Time

/// A moment is stored as its number.
extension UnixMilliseconds: BSONConvertible {
    package static var expectedBSON: String { Int64.expectedBSON }

    package init?(bson: BSONValue) {
        guard let number = Int64(bson: bson) else { return nil }
        self.init(rawValue: number)
    }

    package var bson: BSONValue { rawValue.bson }
}

/// A time is stored as the number of its milliseconds.
extension Milliseconds: BSONConvertible {
    package static var expectedBSON: String { Int64.expectedBSON }

    package init?(bson: BSONValue) {
        guard let number = Int64(bson: bson) else { return nil }
        self.init(rawValue: number)
    }

    package var bson: BSONValue { rawValue.bson }
}
