import GRDB
import Schemas

/// A message's place in the archive: its timestamp, and a number among those of the same millisecond. As the primary key
/// it makes every index, the full-text index too, give messages in the order of time.
enum ArchivePosition {
    /// Leaves 48 bits for the timestamp, enough for the year 9999.
    static let bitsWithinMillisecond: Int64 = 15
    static let perMillisecond: Int64 = 1 << bitsWithinMillisecond

    /// How many milliseconds later than its timestamp a message's position may be.
    static let latest: Int64 = 60_000

    /// The first position of a millisecond.
    static func first(of timestamp: UnixMilliseconds) -> Int64 {
        timestamp << bitsWithinMillisecond
    }

    /// A place for one more message: after those of its millisecond, or, where it is full, in the next one that is not.
    static func free(for timestamp: UnixMilliseconds, in database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: "SELECT MAX(position) FROM message WHERE position >= ? AND position < ?")
        for moment in timestamp...timestamp + latest {
            let range = first(of: moment)..<first(of: moment + 1)
            let last = try Int64.fetchOne(statement, arguments: [range.lowerBound, range.upperBound])
            let free = last.map { $0 + 1 } ?? range.lowerBound
            if range.contains(free) { return free }
        }
        throw CommandFailure(.invalid, "there are too many messages with the timestamp \(timestamp)", field: "timestamp")
    }

    /// The position of the message that a cursor names; `nil` where it is not stored, or not any more.
    static func of(_ cursor: PageCursor, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database, sql: "SELECT position FROM message WHERE msiKey = ? AND timestamp = ?",
            arguments: [cursor.msiKey.description, cursor.timestamp])
    }
}
