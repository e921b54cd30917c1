import GRDB

/// The number on the app's badge: how many messages are unread. Information has no pop-up, so only the badge announces it.
/// In the student's quiet hours new Information waits until their end.
public struct Badge: Sendable {
    private static let memory = "quiet hours"

    private let database: AppDatabase
    private let clock: any DeviceClock

    init(database: AppDatabase, clock: any DeviceClock) {
        self.database = database
        self.clock = clock
    }

    /// The student's quiet hours; `nil` for none.
    ///
    /// - Throws: `DatabaseError`.
    public func quietHours() async throws -> QuietHours? {
        let times = try await database.db.read { db in try db.memory(Self.memory) }?.split(separator: "-").compactMap { Int($0) }
        guard let times, times.count == 2 else { return nil }
        return QuietHours(from: times[0], to: times[1])
    }

    /// Sets the quiet hours; `nil` for none.
    ///
    /// - Throws: `DatabaseError`.
    public func set(_ hours: QuietHours?) async throws {
        let value = hours.map { "\($0.from)-\($0.to)" }
        try await database.db.write { db in try db.keep(value, as: Self.memory) }
    }

    /// How many of these messages count: those that are unread, in the quiet hours without the Information that was sent in them.
    ///
    /// - Throws: `DatabaseError`.
    public func count(_ messages: [StoredMessage]) async throws -> Int {
        let begin = try await period()?.lowerBound
        return messages.count { message in !message.isRead && (message.isAlert || begin.map { message.timestamp < $0 } ?? true) }
    }

    /// When the present quiet hours end, in Unix milliseconds; `nil` outside of them.
    func quietUntil() async throws -> Int64? {
        try await period()?.upperBound
    }

    private func period() async throws -> Range<Int64>? {
        try await quietHours()?.period(at: clock.now, clock)
    }
}

/// The hours of each day in which new Information does not count on the app's badge. Alerts always count.
public struct QuietHours: Hashable, Sendable {
    private static let day = 1_440

    /// In minutes of the local day, from 0 to 1,439. Hours that end before they begin go over midnight.
    public let from: Int
    public let to: Int

    /// - Returns: `nil` if these are no two different times of a day.
    public init?(from: Int, to: Int) {
        guard (0..<Self.day).contains(from), (0..<Self.day).contains(to), from != to else { return nil }
        self.from = from
        self.to = to
    }

    /// The quiet hours in which a moment lies, in Unix milliseconds; `nil` outside of them.
    func period(at moment: Int64, _ clock: any DeviceClock) -> Range<Int64>? {
        let offset = Int64(clock.offset(at: moment)) * 1_000
        let localMinute = (moment + offset) / 60_000
        let since = (Int(localMinute % Int64(Self.day)) - from + Self.day) % Self.day
        let length = (to - from + Self.day) % Self.day
        guard since < length else { return nil }
        /// The Unix time of a local time, whose UTC offset may differ from the current one.
        func time(ofMinute minute: Int64) -> Int64 {
            let local = minute * 60_000
            return local - Int64(clock.offset(at: local - offset)) * 1_000
        }
        let begin = time(ofMinute: localMinute - Int64(since))
        // In the night of a change of the clocks the hours may have no length.
        return begin..<max(begin, time(ofMinute: localMinute - Int64(since) + Int64(length)))
    }
}
