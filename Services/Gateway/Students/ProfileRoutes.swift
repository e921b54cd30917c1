package import Base
import Bus
import HTTPTypes
package import Schemas

/// What persons say about themselves, and what others see of it.
struct ProfileRoutes: Feature {
    let people: CommandClient
    /// Knows who is in which class.
    let study: CommandClient

    /// How long a profile waits for the study service, without which two persons are no classmates.
    private static let studyTimeout = Duration.milliseconds(500)

    var section: APISection {
        APISection(
            "Profiles",
            "Each field of a profile says who sees it: `nobody`, `friends` or `classmates`. Without that, nobody does.")
    }

    var routes: [Route] {
        [
            Route(.get, "/user/profile", right: .person, answer: .ok(Profile.self)) { call in
                Answer(try await people.request(GetProfile(), context: call.caller))
            }.documented("Read one's own profile"),
            Route(.put, "/user/profile", right: .person, body: Profile.self, answer: .ok(Profile.self)) { call in
                Answer(try await people.request(SetProfile(try await call.body()), context: call.caller))
            }.documented(
                "Change one's own profile",
                "It replaces all fields. `email` comes from the provider: send it as it is, or leave it out."),
            Route(.get, "/users/:id", right: .person, answer: .ok(PersonView.self)) { call in
                let account = try call.account("id")
                let command = ViewPerson(account, classmate: await isClassmate(account, of: call))
                return Answer(try await people.requestLimited(command, context: call.caller))
            }.documented(
                "Read another person's profile",
                "As far as they show it to the caller. 404 for everyone whom the caller cannot find: nobody has the name, the "
                    + "account is disabled or of the staff, or one of the two has blocked the other. 429 after too many "
                    + "strangers. While the study service is away, nobody is a classmate.",
                path: ["id": AccountName.self]),
            Route(.get, "/users", right: .person, query: PersonQuery.self, answer: .ok(SearchPersons.Reply.self)) { call, query in
                Answer(try await people.requestLimited(SearchPersons(query.q), context: call.caller))
            }.documented(
                "Search persons",
                "The names of at most \(PersonLimits.maxFound) accounts that begin with `q`. 429 after "
                    + "\(PersonLimits.searchesPerMinute) searches within a minute, or \(PersonLimits.searchesPerDay) within a "
                    + "day."
            ),
            Route(.get, "/user/preferences", right: .person, answer: .ok(PushPreferences.self)) { call in
                Answer(try await people.request(GetPushPreferences(), context: call.caller))
            }.documented("Read which pushes one gets"),
            Route(
                .put, "/user/preferences", right: .person, body: PushPreferences.self, answer: .ok(PushPreferences.self)
            ) { call in
                Answer(try await people.request(SetPushPreferences(try await call.body()), context: call.caller))
            }.documented(
                "Choose which pushes one gets", "By their kind, such as `friend_request`. A kind that is absent is on."),
        ]
    }

    /// Whether the study service says that the caller and another person are in a class together.
    private func isClassmate(_ account: AccountName, of call: PersonCall<NoBody>) async -> Bool {
        guard account != call.principal.account else { return false }
        let reply = try? await study.request(CheckClassmate(account), timeout: Self.studyTimeout, context: call.caller)
        return reply?.shared ?? false
    }
}

/// The parameters of `GET /users`.
struct PersonQuery: Decodable, Checked {
    /// The beginning of a name.
    let q: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case q
    }

    func check() throws(SchemaViolation) {
        try PersonLimits.search.check(q, CodingKeys.q)
        let length = Int64(q.unicodeScalars.count)
        let limits = Int64(PersonLimits.minSearch)...Int64(PersonLimits.search.max)
        guard limits.contains(length) else {
            throw SchemaViolation(CodingKeys.q, "expected at least \(limits.lowerBound) characters", limit: .range(limits))
        }
    }
}

extension Profile: HasExample {
    package static var example: Profile {
        Profile(
            firstName: "Ann", lastName: "Lee", born: CalendarDay("2004-02-29"), bio: "Physics, second year",
            visibility: ProfileVisibility(firstName: .classmates, lastName: .friends, bio: .friends))
    }
}

extension PersonView: HasExample {
    package static var example: PersonView {
        PersonView(.exampleAccount, .friends, .example, mutualFriends: ["bob"].compactMap { AccountName($0) })
    }
}

extension CalendarDay: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue { ["format": "date"] }
}

extension PushPreferences: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["pushes": ["propertyNames": ["pattern": .string(PushKind.pattern)], "maxProperties": 50]]]
    }
}

extension PushPreferences: HasExample {
    package static var example: PushPreferences { PushPreferences(pushes: ["friend_request": false]) }
}
