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
    /// The same with another e-mail address.
    fileprivate func with(email: String?) -> Profile {
        Profile(
            firstName: firstName, lastName: lastName, born: born, gender: gender, bio: bio, email: email, visibility: visibility)
    }
}
