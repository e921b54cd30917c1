import Base
import Schemas

/// The gateway's copies as they are stored in its file.
struct KeptDocument: NumberedFile, Sendable {
    static let formats = FormatVersions(written: 1, readable: 1...1)

    let people: KeptCredentials?
    let cube: KeptCube?
    let broadcasts: KeptBroadcasts?
}

/// The copies of credentials. They contain hashes and no secrets.
struct KeptCredentials: Codable, Hashable, Sendable {
    /// When the people service last confirmed them.
    let confirmed: UnixMilliseconds
    /// The number of changes that they contain.
    let sequence: Int64
    let credentials: [HashedCredential]
    /// Those that have ended for good.
    let ended: [EndedCredential]
    /// The same in every format (``KeptSignOuts``).
    let signOuts: [PendingSignOut]

    private enum CodingKeys: String, CodingKey {
        case confirmed, sequence, credentials, ended
        case signOuts = "sign_outs"
    }
}

/// The sign-outs of a file of any format. The form of `people.sign_outs` stays the same in every format, so that a gateway of another
/// version ends these sign-ins as well.
struct KeptSignOuts: Decodable {
    let signOuts: [PendingSignOut]

    private struct People: Decodable {
        let signOuts: [PendingSignOut]

        enum CodingKeys: String, CodingKey { case signOuts = "sign_outs" }
    }

    private enum CodingKeys: CodingKey { case people }

    init(from decoder: any Decoder) throws {
        let people = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(People.self, forKey: .people)
        signOuts = people?.signOuts ?? []
    }
}

/// A credential that has ended for good, and when.
struct EndedCredential: Codable, Hashable, Sendable {
    let hash: CredentialHash
    let at: UnixMilliseconds
}

/// The copy of the cube.
struct KeptCube: Codable, Hashable, Sendable {
    /// When the cube service last confirmed it.
    let confirmed: UnixMilliseconds
    let version: CubeVersion
    let channels: [Channel]
}

/// The copy of the broadcasts.
struct KeptBroadcasts: Codable, Sendable {
    /// When the broadcast service last confirmed it.
    let confirmed: UnixMilliseconds
    let copy: BroadcastsCopy
}

extension UnixMilliseconds {
    /// The time of an instant of this process.
    init(of instant: ContinuousClock.Instant) {
        self = .now - Milliseconds(ContinuousClock.now - instant)
    }

    /// The instant of a time before this process began; `nil` for a time in the future, from which no age can be told.
    var instant: ContinuousClock.Instant? {
        let age = UnixMilliseconds.now - self
        return age >= .zero ? ContinuousClock.now - Duration(age) : nil
    }
}
