import Base
import GRDB
import Schemas
import Store

/// A message's position in the archive: its timestamp, and a number within the millisecond. It is the primary key, so every
/// index, including the full-text index, returns messages in the order of time. Pages sort messages of the same millisecond by
/// `msi_key`, as in MongoDB. So the order is the same in both databases.
enum ArchivePosition {
    /// Leaves 48 bits for the timestamp, enough for the year 9999.
    static let bitsWithinMillisecond: Int64 = 15
    static let perMillisecond: Int64 = 1 << bitsWithinMillisecond

    /// How far a message's position may be after its timestamp.
    static let maxDelay: Milliseconds = 60_000

    /// The first position of a millisecond.
    static func first(of timestamp: UnixMilliseconds) -> Int64 {
        timestamp.rawValue << bitsWithinMillisecond
    }

    static func millisecond(of position: Int64) -> UnixMilliseconds {
        UnixMilliseconds(rawValue: position >> bitsWithinMillisecond)
    }

    /// A free position: after the other messages of the millisecond, or in the next millisecond that is not full.
    static func free(for timestamp: UnixMilliseconds, in database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: "SELECT MAX(position) FROM message WHERE position >= ? AND position < ?")
        var moment = timestamp
        while moment <= timestamp + maxDelay {
            let range = first(of: moment)..<first(of: moment + 1)
            let last = try Int64.fetchOne(statement, arguments: [range.lowerBound, range.upperBound])
            let free = last.map { $0 + 1 } ?? range.lowerBound
            if range.contains(free) { return free }
            moment = moment + 1
        }
        throw CommandFailure(.invalid, "there are too many messages with the timestamp \(timestamp)", field: "timestamp")
    }

    /// The millisecond of the position of a cursor's message. If the message is not stored, the one where it would be.
    static func millisecond(of cursor: PageCursor, in database: Database) throws -> UnixMilliseconds {
        let position = try Int64.fetchOne(
            database, sql: "SELECT position FROM message WHERE msiKey = ? AND timestamp = ?",
            arguments: [cursor.msiKey.description, cursor.timestamp])
        return position.map { millisecond(of: $0) } ?? cursor.timestamp
    }
}
