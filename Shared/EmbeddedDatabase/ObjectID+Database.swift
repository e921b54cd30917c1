package import GRDB
package import Schemas

/// In SQLite an ObjectId is its 24 hexadecimal digits, as in JSON.
extension ObjectID: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { description.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> ObjectID? {
        String.fromDatabaseValue(value).flatMap { ObjectID($0) }
    }
}

extension TopicKey: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { description.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> TopicKey? {
        String.fromDatabaseValue(value).flatMap { TopicKey($0) }
    }
}
