import Base
import FoundationEssentials
import Schemas
import Store

/// A person's profile as it is stored: with the fields of ``Profile``, but without the e-mail address, which belongs to an identity.
struct ProfileDocument: StoredDocument, Hashable {
    /// The account's name in lower case.
    let id: String
    let profile: Profile

    init(_ profile: Profile, of account: String) {
        id = account
        self.profile = profile.with(email: nil)
    }

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
    }

    init(from decoder: any Decoder) throws {
        id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
        profile = try Profile(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try profile.encode(to: encoder)
    }
}

extension PeopleStore {
    static let profiles = Collection<ProfileDocument>("profile", reserve: .changes)
}

extension Transaction {
    /// A person's profile, with the e-mail address of the provider; an empty one if the person has said nothing.
    func profile(of account: AccountDocument) throws -> Profile {
        let stored = try get(account.id, from: PeopleStore.profiles)?.document.profile ?? Profile()
        return stored.with(email: try verifiedEmail(of: account))
    }

    /// The e-mail address of the identity that was linked first, of those that have one.
    func verifiedEmail(of account: AccountDocument) throws -> String? {
        try identities(of: account).filter { $0.email != nil }.min { $0.linked < $1.linked }?.email
    }
}

extension Profile {
    /// As it is stored: without white space around the texts. One without a visible character is not known.
    var withoutBlanks: Profile {
        Profile(
            firstName: firstName?.withoutBlanks, lastName: lastName?.withoutBlanks, born: born, gender: gender?.withoutBlanks,
            bio: bio?.withoutBlanks, email: email, visibility: visibility)
    }

    /// The same with another e-mail address.
    fileprivate func with(email: String?) -> Profile {
        Profile(
            firstName: firstName, lastName: lastName, born: born, gender: gender, bio: bio, email: email, visibility: visibility)
    }
}

extension CalendarDay {
    /// Whether it is in the future everywhere. Where the person is it may be a day later than in UTC.
    func isFuture(at now: UnixMilliseconds) -> Bool {
        let tomorrow = Date(now + .seconds(86_400)).formatted(Date.ISO8601FormatStyle())
        return description > String(tomorrow.prefix(10))
    }
}

extension String {
    /// Without white space around it; `nil` if nothing visible is left.
    fileprivate var withoutBlanks: String? {
        guard !isInvisible else { return nil }
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
