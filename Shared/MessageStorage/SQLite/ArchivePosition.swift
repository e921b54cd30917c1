import GRDB
import Schemas

/// A message's place in the archive: its timestamp, and a number among those of the same millisecond. As the primary key
/// it makes every index, the full-text index too, give messages in the order of time. Within one millisecond the order is that of
/// `msi_key`, as in MongoDB: a message keeps its place when it moves from one database to the other.
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

    /// The millisecond of a position.
    static func millisecond(of position: Int64) -> UnixMilliseconds {
        position >> bitsWithinMillisecond
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

    /// The millisecond in which the message that a cursor names has its place, or, where it is not stored, would have it.
    static func millisecond(of cursor: PageCursor, in database: Database) throws -> UnixMilliseconds {
        let position = try Int64.fetchOne(
            database, sql: "SELECT position FROM message WHERE msiKey = ? AND timestamp = ?",
            arguments: [cursor.msiKey.description, cursor.timestamp])
        return position.map { millisecond(of: $0) } ?? cursor.timestamp
    }
}
