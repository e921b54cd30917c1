package import Schemas
package import Time

/// A point in time is stored as a plain number.
extension UnixMilliseconds: BSONConvertible {
    package static var expectedBSON: String { Int64.expectedBSON }

    package init?(bson: BSONValue) {
        guard let number = Int64(bson: bson) else { return nil }
        self.init(rawValue: number)
    }

    package var bson: BSONValue { rawValue.bson }
}

/// A duration is stored as its number of milliseconds.
extension Milliseconds: BSONConvertible {
    package static var expectedBSON: String { Int64.expectedBSON }

    package init?(bson: BSONValue) {
        guard let number = Int64(bson: bson) else { return nil }
        self.init(rawValue: number)
    }

    package var bson: BSONValue { rawValue.bson }
}
