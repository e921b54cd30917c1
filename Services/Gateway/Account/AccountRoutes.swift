import CommandBus
import HTTPRouting
import HTTPTypes
import JSON
import Schemas

/// Accounts and their passwords.
struct AccountRoutes: Feature {
    let people: CommandClient
    let credentials: Credentials

    var section: APISection {
        APISection(
            "Accounts",
            "A super user manages the accounts. Everyone may see their own account and change their own password. A name identifies an "
                + "account for ever, without regard to case.")
    }

    private static let one = "/account/:account"
    private static let path: [String: any Route.Document.Type] = ["account": AccountName.self]

    var routes: [Route] {
        [
            Route(.get, "/account", right: .administer, query: PageQuery.self, answer: .ok(AccountPage.self)) { call, query in
                let page = try await people.request(
                    ListAccounts(limit: query.pageSize, after: query.after), context: call.caller)
                let next = query.next("/account", at: page.next)
                return Answer(AccountPage(accounts: page.accounts, next: next), headers: .link(next: next))
            }.documented("List the accounts", "In the order of their names.", answerHeaders: [.nextPage]),
            Route(
                .post, "/account", right: .administer, confirmed: true, body: AddAccount.self, answer: .created(Account.self)
            ) { call in
                let account = try await people.requestWithPassword(call.body(), context: call.credentialedCaller)
                return Answer(account, headers: [.location: "/account/\(account.account)"])
            }.documented(
                "Add an account", "It needs a password, an identifier at the OpenID Connect provider (`oidc`), or both.",
                answerHeaders: [.location], problems: [.conflict]),
            Route(.get, Self.one, right: .signedIn, answer: .ok(Account.self)) { call in
                let account = try call.account()
                if try call.principal.account != account { try call.principal.requireAdministrator() }
                return Answer(try await people.request(GetAccount(account), context: call.caller))
            }.documented("Read an account", "One's own, or as a super user any.", path: Self.path),
            Route(
                .put, Self.one, right: .administer, confirmed: true, body: AccountChange.self, answer: .ok(Account.self)
            ) { call in
                let change = try await call.body().command(for: call.account())
                return Answer(
                    try await credentials.change(.account(change.account), ends: change.disabled == true) {
                        try await people.request(change, context: call.credentialedCaller)
                    })
            }.documented(
                "Change an account",
                "Its role, whether it is disabled, whether it needs a second factor, and its identifier at the OpenID Connect provider "
                    + "(`oidc`; empty removes it). A disabled account's sign-ins and tokens end within a second. The last super user who can "
                    + "sign in can be neither disabled nor given another role.",
                path: Self.path, problems: [.conflict]),
            Route(.delete, Self.one, right: .administer, confirmed: true, answer: .noContent) { call in
                let account = try call.account()
                _ = try await credentials.change(.account(account), ends: true) {
                    try await people.request(RemoveAccount(account), context: call.credentialedCaller)
                }
                return Answer()
            }.documented(
                "Remove an account",
                "Its sign-ins and tokens end within a second. No other account gets its name. The last active super user cannot be "
                    + "removed.",
                path: Self.path, problems: [.conflict]),
            Route(
                .put, Self.one + "/password", right: .signedIn, body: PasswordChange.self, answer: .ok(Account.self),
                changePassword
            ).documented(
                "Change a password",
                "All sign-ins and tokens of the account end within a second. One's own password requires `current_password`; another "
                    + "account's requires the right `administer` and a confirmed password.",
                path: Self.path, problems: [.confirmationRequired, .tooManyRequests]),
        ]
    }

    private func changePassword(_ call: Call<PasswordChange>) async throws -> Answer<Account> {
        let principal = try call.principal
        let account = try call.account()
        if principal.account != account {
            try principal.requireAdministrator()
            try principal.requireConfirmation()
        } else if principal.credential.kind == .token, !principal.isOperator {
            throw Problem(.forbidden, "A token cannot change a password, except the operator's.")
        }
        let change = try await call.body()
        if principal.account == account, change.currentPassword == nil, !principal.isOperator {
            throw Problem(.invalidField, "current_password: missing", field: "current_password")
        }
        let command = ChangePassword(
            account, password: change.password, currentPassword: change.currentPassword, address: call.context.clientAddress)
        return Answer(
            try await credentials.change(.account(account), ends: true) {
                try await people.requestWithPassword(command, context: call.credentialedCaller)
            })
    }
}

extension Call {
    /// The account in the path.
    ///
    /// - Throws: ``Problem``.
    func account() throws -> AccountName {
        guard let account = parameter("account")?.percentDecoded.flatMap({ AccountName($0) }) else {
            throw Problem(.invalidField, "account: expected \(AccountName.expected)", field: "account")
        }
        return account
    }
}

extension HTTPFields {
    /// The header that links to the next page; empty on the last page.
    static func link(next: String?) -> HTTPFields {
        next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:]
    }
}
