package import Base

// The commands of a person about themself. The header's `actor` is required: it is the account.

/// `person.get`: the account as its person sees it.
package struct GetPerson: Command {
    package static let name = "person.get"
    package typealias Reply = Person

    package init() {}
}

/// `person.link`: a further way to sign in. The errors are those of ``BeginDevice``; `conflict` if the identity has another account.
package struct LinkIdentity: Command, Checked {
    package static let name = "person.link"
    package typealias Reply = Person

    package let credential: PersonCredential
    /// The caller's device: an ID token with a `nonce` names its key.
    package let device: ObjectID
    /// The client's network address.
    package let address: String

    package init(credential: PersonCredential, device: ObjectID, address: String) {
        self.credential = credential
        self.device = device
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case credential, device, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `person.unlink`: removes a way to sign in. `conflict` if it is the last one; `not_found` if the person does not have it.
package struct UnlinkIdentity: Command {
    package static let name = "person.unlink"
    package typealias Reply = Person

    package let provider: IdentityProvider

    package init(_ provider: IdentityProvider) {
        self.provider = provider
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case provider
    }
}

/// `person.password`: another password of a person who signs in with one. It ends all devices but the caller's. The current one is checked,
/// and wrong ones are limited as in ``BeginSignIn``.
package struct ChangePersonPassword: Command, Checked {
    package static let name = "person.password"
    package typealias Reply = Done

    package let current: Secret
    package let password: Secret
    /// The caller's device.
    package let device: ObjectID
    /// The client's network address.
    package let address: String

    package init(current: Secret, password: Secret, device: ObjectID, address: String) {
        self.current = current
        self.password = password
        self.device = device
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case current, password, device, address
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(current, CodingKeys.current)
        try PeopleLimits.checkNew(password, CodingKeys.password)
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `profile.get`: the person's own profile.
package struct GetProfile: Command {
    package static let name = "profile.get"
    package typealias Reply = Profile

    package init() {}
}

/// `profile.set`: replaces the person's own profile.
package struct SetProfile: Command {
    package static let name = "profile.set"
    package typealias Reply = Profile

    package let profile: Profile

    package init(_ profile: Profile) {
        self.profile = profile
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case profile
    }
}

/// `person.view`: another person, as far as they show themself to the caller. `not_found` if there is none, if the account is disabled or
/// no student's, and if either of the two has blocked the other. `overloaded` with `retry_after` after too many views of strangers.
package struct ViewPerson: Command {
    package static let name = "person.view"
    package typealias Reply = PersonView

    package let account: AccountName
    /// `true` if the study service says that the two are in a class together; absent otherwise.
    package let classmate: Bool?

    package init(_ account: AccountName, classmate: Bool = false) {
        self.account = account
        self.classmate = classmate ? true : nil
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, classmate
    }
}

/// `person.classmates`: those of the caller's classmates who let the caller see their first or last name, or are friends, in the order of the
/// given accounts. Those whom the caller would not find by ``ViewPerson`` are missing.
package struct ListClassmates: Command, Checked {
    package static let name = "person.classmates"

    package struct Reply: Codable, Hashable, Sendable {
        package let people: [PersonView]

        package init(people: [PersonView]) {
            self.people = people
        }
    }

    /// Of ``ListClassAccounts``, which has checked that they are in a class with the caller.
    package let accounts: [AccountName]

    package init(_ accounts: [AccountName]) {
        self.accounts = accounts
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accounts
    }

    package func check() throws(SchemaViolation) {
        guard accounts.count <= StudyLimits.maxClassmates else {
            throw SchemaViolation(CodingKeys.accounts, "expected at most \(StudyLimits.maxClassmates) accounts")
        }
    }
}

/// `person.search`: the names of at most ``PersonLimits/maxFound`` students that begin with a text. Those whom the caller would not find by
/// ``ViewPerson`` are missing. `overloaded` with `retry_after` after too many searches.
package struct SearchPersons: Command, Checked {
    package static let name = "person.search"

    package struct Reply: Codable, Hashable, Sendable {
        package let accounts: [AccountName]

        package init(accounts: [AccountName]) {
            self.accounts = accounts
        }
    }

    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case text
    }

    package func check() throws(SchemaViolation) {
        try PersonLimits.search.check(text, CodingKeys.text)
        let limits = Int64(PersonLimits.minSearch)...Int64(PersonLimits.search.max)
        guard limits.contains(Int64(text.unicodeScalars.count)) else {
            throw SchemaViolation(
                CodingKeys.text, "expected at least \(limits.lowerBound) characters", limit: .range(limits))
        }
    }
}

/// `preference.get`: which kinds of pushes the person gets.
package struct GetPushPreferences: Command {
    package static let name = "preference.get"
    package typealias Reply = PushPreferences

    package init() {}
}

/// `preference.set`: replaces these choices.
package struct SetPushPreferences: Command {
    package static let name = "preference.set"
    package typealias Reply = PushPreferences

    package let preferences: PushPreferences

    package init(_ preferences: PushPreferences) {
        self.preferences = preferences
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case preferences
    }
}
