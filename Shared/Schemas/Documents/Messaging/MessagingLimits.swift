package import Base

/// The limits of messages between persons, statuses and pictures that no setting changes. Each is named in the API's document.
/// The others are ``MessagingRules``.
package enum MessagingLimits {
    package static let text = TextLimits(max: 2_000, .text)
    package static let status = TextLimits(max: 500, .text)
    /// How long a status lasts.
    package static let statusTime = Milliseconds.seconds(86_400)
    /// Why a message is reported.
    package static let reason = TextLimits(max: 500, mayBeBlank: true, .text)

    /// The size of a picture's file in bytes, and its width and height in pixels.
    package static let maxPictureBytes = 1 << 20
    package static let maxPictureSide = 4_096
    /// How long an uploaded picture waits for a message, a status or a profile that has it.
    package static let uploadTime = Milliseconds.seconds(86_400)
    /// The pictures of a person that wait so.
    package static let maxUploads = 50
    /// The pictures of a person in messages that the hub still has.
    package static let maxSentPictures = 500
    /// The published pictures of an account that the hub still has.
    package static let maxPublishedPictures = 1_000

    /// The messages that may wait for a person.
    package static let maxWaiting = 20_000
    /// A device counts for the removal of messages if it has asked for them within this time.
    package static let activeTime = Milliseconds.seconds(7 * 86_400)
    /// The valid number of messages of a page.
    package static let page = 1...200
    /// The statuses that one request marks as seen, and the accounts that the people service is asked about at once.
    package static let maxAtOnce = 200
    /// The fetches that a device may make because of one event or push: its first answer may be lost.
    package static let fetchesPerPrompt = 5
    /// The reports of a person within a day.
    package static let reportsPerDay = 20
    /// From this share of its storage or of the calls of a month on, the service says so, in hundredths.
    package static let alarm = 90
}
