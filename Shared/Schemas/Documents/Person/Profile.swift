package import Base

/// Who sees a field of a profile. Nobody does unless the person chooses so.
package enum Visibility: String, ClosedEnum {
    case nobody
    case friends
    /// Friends, and those who are in a class with the person.
    case classmates
}

/// What a person says about themself. A field that is absent is not known.
///
/// `{"first_name":"Ann","bio":"Physics, second year","visibility":{"first_name":"classmates","bio":"friends"}}`
package struct Profile: Codable, Checked, Hashable, Sendable {
    package let firstName: String?
    package let lastName: String?
    package let born: CalendarDay?
    package let gender: String?
    package let bio: String?
    /// From the provider, if it has verified it. The person cannot change it: another one is refused.
    package let email: String?
    package let visibility: ProfileVisibility

    package init(
        firstName: String? = nil, lastName: String? = nil, born: CalendarDay? = nil, gender: String? = nil, bio: String? = nil,
        email: String? = nil, visibility: ProfileVisibility = ProfileVisibility()
    ) {
        self.firstName = firstName
        self.lastName = lastName
        self.born = born
        self.gender = gender
        self.bio = bio
        self.email = email
        self.visibility = visibility
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case born, gender, bio, email, visibility
        case firstName = "first_name"
        case lastName = "last_name"
    }

    package func check() throws(SchemaViolation) {
        try PersonLimits.name.check(firstName, CodingKeys.firstName)
        try PersonLimits.name.check(lastName, CodingKeys.lastName)
        try PersonLimits.gender.check(gender, CodingKeys.gender)
        try PersonLimits.bio.check(bio, CodingKeys.bio)
        try TextLimits(max: 254).check(email, CodingKeys.email)
    }
}

/// Who sees which field of a profile. An absent one is seen by nobody.
package struct ProfileVisibility: Codable, Hashable, Sendable {
    package let firstName: Visibility?
    package let lastName: Visibility?
    package let born: Visibility?
    package let gender: Visibility?
    package let bio: Visibility?
    package let email: Visibility?

    package init(
        firstName: Visibility? = nil, lastName: Visibility? = nil, born: Visibility? = nil, gender: Visibility? = nil,
        bio: Visibility? = nil, email: Visibility? = nil
    ) {
        self.firstName = firstName
        self.lastName = lastName
        self.born = born
        self.gender = gender
        self.bio = bio
        self.email = email
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case born, gender, bio, email
        case firstName = "first_name"
        case lastName = "last_name"
    }
}

/// What one person sees of another.
package struct PersonView: Codable, Hashable, Sendable {
    package let account: AccountName
    package let relation: Relation
    package let firstName: String?
    package let lastName: String?
    package let born: CalendarDay?
    package let gender: String?
    package let bio: String?
    package let email: String?
    /// The friends of both; absent unless the two are friends, or this person has asked to be one.
    package let mutualFriends: [AccountName]?

    private enum CodingKeys: String, CodingKey {
        case account, relation, born, gender, bio, email
        case firstName = "first_name"
        case lastName = "last_name"
        case mutualFriends = "mutual_friends"
    }

    /// - Parameters:
    ///   - profile: `nil` if the person has none.
    ///   - isClassmate: Whether the two are in a class together. Who has asked for friendship, or was asked, still sees what classmates see.
    package init(
        _ account: AccountName, _ relation: Relation, _ profile: Profile?, isClassmate: Bool = false,
        mutualFriends: [AccountName]? = nil
    ) {
        func seen<Value>(_ value: KeyPath<Profile, Value?>, _ by: KeyPath<ProfileVisibility, Visibility?>) -> Value? {
            guard let profile else { return nil }
            let visibility = profile.visibility[keyPath: by]
            guard relation.sees(visibility) || isClassmate && visibility == .classmates else { return nil }
            return profile[keyPath: value]
        }
        self.account = account
        self.relation = relation == .stranger && isClassmate ? .classmates : relation
        firstName = seen(\.firstName, \.firstName)
        lastName = seen(\.lastName, \.lastName)
        born = seen(\.born, \.born)
        gender = seen(\.gender, \.gender)
        bio = seen(\.bio, \.bio)
        email = seen(\.email, \.email)
        self.mutualFriends = mutualFriends
    }
}

extension PersonView {
    /// How the one who looks stands to the other.
    package enum Relation: String, ClosedEnum {
        /// It is oneself.
        case oneself = "self"
        case friends
        /// One has asked for the other's friendship.
        case asked
        /// The other has asked.
        case received
        case classmates
        case stranger = "none"

        /// Whether it is enough to see a field.
        func sees(_ visibility: Visibility?) -> Bool {
            switch (self, visibility) {
            case (.oneself, _): true
            case (_, nil), (_, .nobody?): false
            case (.friends, .friends?), (.friends, .classmates?), (.classmates, .classmates?): true
            case (.asked, _), (.received, _), (.classmates, .friends?), (.stranger, _): false
            }
        }
    }
}

/// A day of the calendar, such as a date of birth: `2004-02-29`. Years 1900 to 2100.
package struct CalendarDay: Hashable, Sendable {
    package let description: String
}

extension CalendarDay: TextCodable {
    package init?(_ description: String) {
        guard let match = description.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int(match.1),
            let month = Int(match.2), let day = Int(match.3), (1_900...2_100).contains(year), (1...12).contains(month),
            (1...Self.days(of: month, in: year)).contains(day)
        else { return nil }
        self.description = description
    }

    private static func days(of month: Int, in year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    package static var expected: String { "a day from 1900-01-01 on, such as 2004-02-29" }
    package static var example: String { "2004-02-29" }
}
