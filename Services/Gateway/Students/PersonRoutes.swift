import Base
import Bus
import HTTPTypes
import Schemas

/// A person's own account: how they sign in, and what a code gives them.
struct PersonRoutes: Feature {
    let people: CommandClient

    var section: APISection {
        APISection(
            "Students' account",
            "Each request has the token of a device: `Authorization: Bearer …`. It is the account of that device's person, and of nobody else."
        )
    }

    var routes: [Route] {
        [
            Route(.get, "/user", right: .person, answer: .ok(Person.self)) { call in
                Answer(try await people.request(GetPerson(), context: call.caller))
            }.documented("Read one's own account"),
            Route(
                .post, "/user/identities", right: .person, body: PersonCredential.self, answer: .created(Person.self), link
            ).documented(
                "Add a way to sign in",
                "The credential of a further provider, as in `PUT /user`, or with `password` the account's name and a new password. 409 if the "
                    + "identity has another account, or the account another identity of the provider. An identity that the account has already "
                    + "is no error.",
                headers: [.repeatableKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.delete, "/user/identities/:provider", right: .person, answer: .ok(Person.self)) { call in
                guard let provider = call.parameter("provider").flatMap(IdentityProvider.init(rawValue:)) else {
                    let all = IdentityProvider.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Problem(.invalidField, "provider: expected one of \(all)", field: "provider")
                }
                return Answer(try await people.request(UnlinkIdentity(provider), context: call.caller))
            }.documented(
                "Remove a way to sign in", "409 if it is the last one.", path: ["provider": IdentityProvider.self],
                problems: [.conflict]),
            Route(.put, "/user/password", right: .person, body: PersonPasswordChange.self, answer: .noContent) { call in
                let change = try await call.body()
                let command = ChangePersonPassword(
                    current: change.current, password: change.password, device: call.principal.device, address: call.address)
                _ = try await people.requestWithPassword(command, context: call.caller)
                return Answer()
            }.documented(
                "Change one's own password on a device",
                "All other devices sign out. A wrong `current` is 401. 409 if the person does not sign in with a password.",
                problems: [.conflict]),
            Route(.post, "/user/access-code", right: .person, body: AccessCodeUse.self, answer: .ok(Person.self)) { call in
                try call.checkRepeatableKey()
                let command = UseAccessCode(code: try await call.body().code, address: call.address)
                return Answer(try await people.requestLimited(command, context: call.caller))
            }.documented(
                "Use an access code",
                "Gives what a super user's code grants, such as the mark of professors. The next token of the device has it. 403 with the "
                    + "`field` `code` if the code is unknown, used up or expired.",
                headers: [.repeatableKey]),
        ]
    }

    private func link(_ call: PersonCall<PersonCredential>) async throws -> Answer<Person> {
        try call.checkRepeatableKey()
        let command = LinkIdentity(
            credential: try await call.body(), device: call.principal.device, address: call.address)
        let person = try await people.requestLimited(command, timeout: DeviceSignInRoutes.timeout, context: call.caller)
        return Answer(person, headers: [.location: "/user"])
    }
}

/// The body of `PUT /user/password`.
struct PersonPasswordChange: Codable, Checked, Sendable {
    let current: Secret
    let password: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case current, password
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(current, CodingKeys.current)
        try PeopleLimits.checkNew(password, CodingKeys.password)
    }
}

/// The body of `POST /user/access-code`.
struct AccessCodeUse: Codable, Checked, Sendable {
    let code: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code
    }

    func check() throws(SchemaViolation) {
        try PersonLimits.accessCode.check(code.text, CodingKeys.code)
    }
}

extension PersonPasswordChange: HasExample {
    static var example: PersonPasswordChange {
        PersonPasswordChange(current: .examplePassword, password: Secret("violet-anchor-meadow"))
    }
}

extension AccessCodeUse: HasExample {
    static var example: AccessCodeUse { AccessCodeUse(code: Secret("K7QF-2M9X-ZB4T")) }
}
