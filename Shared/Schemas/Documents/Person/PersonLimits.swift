package import Base

/// The limits of what students and their devices have. Each is named in the API's document and in `Services/People/STUDENTS.md`.
package enum PersonLimits {
    /// The account name of a student who registers: a part of ``AccountName``, without what looks like a mail address.
    package static let studentName = TextLimits(max: 32, lettersDigitsAnd: "._-")
    /// The minimum length of such a name.
    package static let minStudentName = 3
    /// A first or last name. A blank text of a profile counts as a missing one.
    package static let name = TextLimits(max: 100, mayBeBlank: true, .name)
    package static let gender = TextLimits(max: 40, mayBeBlank: true, .line)
    /// The seed's bio has 100 characters.
    package static let bio = TextLimits(max: 100, mayBeBlank: true, .text)
    /// The beginning of an account name.
    package static let search = TextLimits(max: 64)
    /// The minimum length of a search by a person.
    package static let minSearch = 3
    /// The maximum number of names that a search answers with.
    package static let maxFound = 10
    /// The searches of a person a minute and a day, with the views of persons who are no friends.
    package static let searchesPerMinute = 30
    package static let searchesPerDay = 300

    /// The maximum number of a person's friends.
    package static let maxFriends = 1_000
    /// The maximum number of unanswered requests that a person may have made, and may have received.
    package static let maxAsked = 50
    package static let maxReceived = 500
    package static let maxBlocked = 1_000
    /// How long a declined request is remembered: a new one of the same person is not shown before.
    package static let declinedTime = Milliseconds.seconds(30 * 86_400)

    /// The maximum number of an account's devices. A further one ends the one that was used least recently.
    package static let maxDevices = 10
    /// The sign-ins of an account on devices within ten minutes.
    package static let signIns = 20
    package static let deviceName = TextLimits(max: 100, .line)
    package static let appVersion = TextLimits(max: 40, lettersDigitsAnd: ".-+_")
    package static let language = TextLimits(max: 35, lettersDigitsAnd: "-")
    /// An uncompressed point of P-256 in URL-safe Base64.
    package static let deviceKey = TextLimits(max: 87, lettersDigitsAnd: "-_")
    /// A signature of ECDSA in its raw form, 64 bytes in URL-safe Base64.
    package static let deviceProof = TextLimits(max: 86, lettersDigitsAnd: "-_")
    package static let nonce = TextLimits(max: 500, lettersDigitsAnd: "-_")
    /// How long a nonce may be signed.
    package static let nonceTime = Milliseconds.seconds(120)

    /// How long the token of a device is valid.
    package static let tokenTime = Milliseconds.seconds(3_600)
    /// How long a gateway that cannot reach the people service takes a token, from its issue.
    package static let offlineTokenTime = Milliseconds.seconds(12 * 3_600)
    /// How long the end of a device, or of all devices of an account, is remembered. By then every token of theirs is too old everywhere.
    package static let endedTime = offlineTokenTime + .seconds(3_600)
    /// After this time a new key signs tokens. The one before stays valid for as long as its tokens.
    package static let tokenKeyTime = Milliseconds.seconds(30 * 86_400)

    /// The maximum length of an ID token or access token of a provider.
    package static let providerToken = TextLimits(max: 8_192)
    /// How long before its exchange an ID token may have been issued, if its provider gives new ones at each sign-in.
    package static let maxTokenAge = Milliseconds.seconds(600)
    /// A code of a super user, such as `K7QF-2M9X-ZB4T`.
    package static let accessCode = TextLimits(max: 40)
    package static let accessCodeUses = 1...100_000
    /// Registrations with a password, by one client's address and in all, within an hour.
    package static let registrationsPerAddress = 100
    package static let registrationsPerHour = 1_000
}
