import Bus
import HTTPTypes
import Base
import Schemas

/// The second factor of an account: one-time codes of an authenticator app.
struct SecondFactorRoutes: Feature {
    let people: CommandClient
    let credentials: Credentials

    var section: APISection {
        APISection(
            "Second factor",
            "With a second factor, signing in asks for a code of an authenticator app (TOTP, RFC 6238). A super user can require it."
        )
    }

    private static let path = "/account/:account/second-factor"
    private static let parameters: [String: any Route.Document.Type] = ["account": AccountName.self]

    var routes: [Route] {
        [
            Route(
                .post, Self.path, right: .partlySignedIn, confirmed: true, answer: .created(BeginSecondFactor.Reply.self)
            ) { call in
                let account = try ownAccount(of: call)
                return Answer(try await people.request(BeginSecondFactor(account), context: call.credentialedCaller))
            }.documented(
                "Begin to set up a second factor",
                "One's own. Add the secret to the authenticator app, or show `uri` as a QR code, and confirm it with a code.",
                path: Self.parameters, problems: [.conflict]),
            Route(
                .put, Self.path, right: .partlySignedIn, confirmed: true, body: SecondFactorCode.self,
                answer: .ok(ConfirmSecondFactor.Reply.self)
            ) { call in
                let account = try ownAccount(of: call)
                let code = try await call.body().code
                return Answer(
                    try await credentials.change(.account(account)) {
                        try await people.request(ConfirmSecondFactor(account, code: code), context: call.credentialedCaller)
                    })
            }.documented(
                "Confirm a second factor",
                "From now on signing in asks for a code. Each of the recovery codes replaces a code once; they are shown only here.",
                path: Self.parameters, problems: [.conflict]),
            Route(.delete, Self.path, right: .signedIn, confirmed: true, answer: .ok(Account.self)) { call in
                let account = try call.account()
                if call.principal.account != account { try call.principal.requireAdministrator() }
                return Answer(
                    try await credentials.change(.account(account)) {
                        try await people.request(RemoveSecondFactor(account), context: call.credentialedCaller)
                    })
            }.documented(
                "Remove a second factor", "One's own, or as a super user any, for example that of a lost phone.",
                path: Self.parameters),
        ]
    }

    private func ownAccount(of call: Call<some Sendable>) throws -> AccountName {
        let account = try call.account()
        guard call.principal.account == account else {
            throw Problem(.forbidden, "Only the account itself can set up its second factor.")
        }
        return account
    }
}

/// The body of `PUT /account/:account/second-factor`.
struct SecondFactorCode: Codable, Checked, Sendable {
    let code: Secret

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code
    }

    func check() throws(SchemaViolation) {
        try PeopleLimits.checkGiven(code, CodingKeys.code)
    }
}

extension SecondFactorCode: HasExample {
    static var example: SecondFactorCode { SecondFactorCode(code: Secret("492817")) }
}
