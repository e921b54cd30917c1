package import Base

/// The limits of classes, study sessions and posts that no setting changes. Each is named in the API's document. The others are
/// ``StudyRules``.
package enum StudyLimits {
    package static let className = TextLimits(max: 100, .name)
    package static let classDescription = TextLimits(max: 1_000, mayBeBlank: true, .text)
    /// The short name of a class that the professor chooses, such as `CS251-F26`. Upper and lower case make no difference.
    package static let identificationKey = TextLimits(max: 40, lettersDigitsAnd: "-_.")
    /// The days for which the history of a class has the names of its persons, counted from the end of a session.
    package static let nameDays = 1...3_650
    package static let defaultNameDays = 365

    /// A key of a class as people type it, such as `K7QF-2M9X`.
    package static let classKey = TextLimits(max: 40)
    package static let keyUses = 1...100_000
    /// The maximum number of a class's keys.
    package static let maxKeys = 20
    /// Wrong keys within ten minutes, of an account and of a client's address. A hall of students is behind one address.
    package static let wrongKeysPerAccount = 10
    package static let wrongKeysPerAddress = 200

    package static let maxTopics = 5
    package static let topic = TextLimits(max: 60, .line)
    package static let sessionDescription = TextLimits(max: 500, mayBeBlank: true, .text)
    package static let placeName = TextLimits(max: 100, .line)
    /// The planned duration of a session in minutes. ``StudyRules/maxMinutes`` is at most its end.
    package static let minutes = 5...1_440
    package static let post = TextLimits(max: 1_000, .text)
    /// The sessions that a person joins within a minute: each may push.
    package static let joinsPerMinute = 20
    /// The requests with which a person changes sessions within a minute, and those with which they invite: each may push to all who
    /// are there, or change what fifty see.
    package static let changesPerMinute = 30
    /// The accounts that one request invites.
    package static let maxInvited = 50

    /// The radius of a search for sessions, in metres.
    package static let searchRadius = 1...50_000
    /// The maximum number of sessions that such a search answers with, the nearest ones.
    package static let maxNear = 200
    /// The accuracy of a position in metres that a device may report. ``StudyRules/accuracy`` decides which reports count.
    package static let reportedAccuracy = 0.0...1_000_000.0
    /// The valid number of documents of a page.
    package static let page = 1...100
    /// The maximum number of a page of classmates, and of those whom the people service is asked about at once.
    package static let maxClassmates = 200

    /// How long before the end of a session its attendants are told.
    package static let warning = Milliseconds.seconds(600)
    /// The attendants of a session get at most one push about its posts within this time.
    package static let postPushPeriod = Milliseconds.seconds(60)
    /// How long after the end of a session its class may still be told that it has ended. After that the session looks like one
    /// that never was, except to its attendants and the professor.
    package static let endedTime = Milliseconds.seconds(86_400)
}
