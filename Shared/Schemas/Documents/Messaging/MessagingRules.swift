package import Base

/// The limits of messages between persons that the operator sets. The messaging service reads the settings, and apps show them.
package struct MessagingRules: Codable, Hashable, Sendable {
    /// For how many days a message waits at most. While nine tenths of the storage are used it is half of that.
    package let days: Int
    /// For how many days the digest of a message is kept, by which a report is verified and a repeated request recognised.
    package let digestDays: Int
    /// For how many days a closed report is kept.
    package let reportDays: Int
    /// For how many days a picture of the hub's messages is kept.
    package let publishedDays: Int
    /// How many seconds have to be between two polls of a device that find nothing.
    package let poll: Seconds
    /// The messages and statuses of a person within a minute.
    package let perMinute: Int
    /// The calls of a month that the operator wants to be warned of; absent for none.
    package let calls: Int?
    /// The storage for pictures, in bytes.
    package let pictures: Int64

    package init(
        days: Int, digestDays: Int, reportDays: Int, publishedDays: Int, poll: Seconds, perMinute: Int, calls: Int?,
        pictures: Int64
    ) {
        self.days = days
        self.digestDays = digestDays
        self.reportDays = reportDays
        self.publishedDays = publishedDays
        self.poll = poll
        self.perMinute = perMinute
        self.calls = calls
        self.pictures = pictures
    }

    private enum CodingKeys: String, CodingKey {
        case days, poll, calls, pictures
        case digestDays = "digest_days"
        case reportDays = "report_days"
        case publishedDays = "published_days"
        case perMinute = "per_minute"
    }

    /// How long a message waits at most.
    ///
    /// - Parameter isNearlyFull: Whether nine tenths of the storage are used.
    package func waitingTime(isNearlyFull: Bool) -> Milliseconds {
        .seconds(Int64(days) * 86_400 / (isNearlyFull ? 2 : 1))
    }
}

/// What a person has chosen about messages: the body and the answer of `PUT /user/messaging`.
package struct MessagingChoices: Codable, Hashable, Sendable {
    /// `false` if nobody is told what the person has read. Then the person is not told either what others have read.
    package let readMarks: Bool

    package init(readMarks: Bool) {
        self.readMarks = readMarks
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case readMarks = "read_marks"
    }
}
