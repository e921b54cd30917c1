package import GRDB
package import Schemas

/// In SQLite a point in time is a plain number.
extension UnixMilliseconds: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { rawValue.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> UnixMilliseconds? {
        Int64.fromDatabaseValue(value).map(UnixMilliseconds.init(rawValue:))
    }
}
