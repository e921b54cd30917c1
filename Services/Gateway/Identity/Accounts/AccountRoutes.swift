import Bus
import HTTPRouting
import HTTPTypes
import Base
import Schemas

/// Accounts and their passwords.
struct AccountRoutes: Feature {
    let people: CommandClient
    let credentials: Credentials
    let devices: DeviceAccess

    var section: APISection {
        APISection(
            "Accounts",
            "A super user manages the accounts. Everyone may see their own account and change their own password. A name identifies an "
                + "account for ever, without regard to case.")
    }

    private static let one = "/account/:account"
    /// The people service answers a second earlier, even if other services have not answered it. Then it asks them again.
    private static let erasureTimeout = Duration.seconds(5)
    private static let path: [String: any Route.Document.Type] = ["account": AccountName.self]

    var routes: [Route] {
        [
            Route(.get, "/account", right: .administer, query: AccountQuery.self, answer: .ok(AccountPage.self), list).documented(
                "List the accounts",
                "In the order of their names. Without `role` and `q` they are those of the staff. `q` is the beginning of a name, of whatever "
                    + "role.",
                answerHeaders: [.nextPage]),
            Route(
                .post, "/account", right: .administer, confirmed: true, body: AddAccount.self, answer: .created(Account.self)
            ) { call in
                let account = try await people.requestWithPassword(call.body(), context: call.credentialedCaller)
                return Answer(account, headers: [.location: "/account/\(account.account)"])
            }.documented(
                "Add an account",
                "It needs a password, an identifier at the OpenID Connect provider (`oidc`), or `\"invite\":true`: then `invitation` in the "
                    + "answer has a link that sets the password, as that of `/account/:account/invitation`.",
                answerHeaders: [.location], problems: [.conflict]),
            Route(.get, Self.one, right: .signedIn, answer: .ok(Account.self)) { call in
                let account = try call.account()
                if call.principal.account != account { try call.principal.requireAdministrator() }
                return Answer(try await find(account, for: call.caller))
            }.documented("Read an account", "One's own, or as a super user any.", path: Self.path),
            Route(
                .put, Self.one, right: .administer, confirmed: true, body: AccountChange.self, answer: .ok(Account.self)
            ) { call in
                let change = try await call.body().command(for: call.account())
                let account = try await credentials.change(.account(change.account), ends: change.disabled == true) {
                    try await people.request(change, context: call.credentialedCaller)
                }
                if change.disabled == true { await devices.end(account: change.account) }
                return Answer(account)
            }.documented(
                "Change an account",
                "Its role, whether it is disabled, whether it may create classes (`professor`), whether it needs a second factor, its display "
                    + "name, and its identifier at the OpenID Connect provider (`oidc`); an empty text removes one of the last two. A disabled "
                    + "account's sign-ins, tokens and devices end within a second. The last super user who can "
                    + "sign in can be neither disabled nor given another role.",
                path: Self.path, problems: [.conflict]),
            Route(.delete, Self.one, right: .administer, confirmed: true, answer: .noContent) { call in
                try await remove(call.account(), for: call.credentialedCaller)
                return Answer()
            }.documented(
                "Remove an account",
                "Its sign-ins, tokens and devices end within a second. No other account gets its name. The last active super user cannot be "
                    + "removed. Of a student everything is erased, in all services.",
                path: Self.path, problems: [.conflict]),
            Route(
                .put, Self.one + "/password", right: .signedIn, body: PasswordChange.self, answer: .ok(Account.self),
                changePassword
            ).documented(
                "Change a password",
                "All sign-ins and tokens of the account end within a second. One's own password requires `current_password`; another "
                    + "account's requires the right `administer` and a confirmed password.",
                path: Self.path, problems: [.confirmationRequired, .tooManyRequests]),
            Route(
                .put, Self.one + "/display-name", right: .signedIn, body: DisplayNameChange.self, answer: .ok(Account.self),
                changeDisplayName
            ).documented(
                "Change one's display name",
                "1 to 100 characters, for display only; empty removes it. For another account a super user uses `PUT /account/:account`.",
                path: Self.path),
            Route(.get, "/display-name", right: .read, query: DisplayNamesQuery.self, answer: .ok(ReadDisplayNames.Reply.self)) {
                call, query in
                Answer(try await people.request(ReadDisplayNames(query.accounts.names), context: call.caller))
            }.documented(
                "Read display names",
                "What people call the senders of messages, for readers who may not list accounts. Accounts without a display name, unknown "
                    + "and removed ones are missing in the answer."),
            Route(
                .post, Self.one + "/invitation", right: .administer, confirmed: true, answer: .created(Account.self)
            ) { call in
                Answer(try await people.request(InviteAccount(call.account()), context: call.credentialedCaller))
            }.documented(
                "Invite an account",
                "For a new account or a forgotten password. `invitation.link_path` in the answer is the path of a link with which the "
                    + "person sets a password, once, within a day. It is shown only here, and ends the link before. The present password "
                    + "stays valid until then.",
                path: Self.path, problems: [.conflict]),
        ]
    }

    private func list(_ call: Call<NoBody>, _ query: AccountQuery) async throws -> Answer<AccountPage> {
        do throws(CommandFailure) {
            let page = try await people.request(query.command, context: call.caller)
            let next = page.next.map { call.request.nextPage("/account", limit: Int64(query.command.limit), ("after", $0)) }
            return Answer(AccountPage(accounts: page.accounts, next: next), headers: .link(next: next))
        } catch {
            // The filter was checked here, so a service that refuses it does not know these parameters.
            guard error.status == .invalid, query.isFiltered, error.field != "after" else { throw error }
            throw Problem(.serviceUnavailable, "The people service is of an earlier version, which cannot search accounts.")
        }
    }

    /// An account of any role. Earlier versions of the people service have only those of the staff.
    private func find(_ account: AccountName, for caller: CallerContext) async throws -> Account {
        do throws(CommandFailure) {
            return try await people.request(GetAccount(account), context: caller)
        } catch {
            guard error.status == .notFound else { throw error }
            let notFound = error
            do throws(CommandFailure) {
                return try await people.request(FindAccount(account), context: caller)
            } catch {
                throw error.isUnknownCommand ? notFound : error
            }
        }
    }

    private func remove(_ account: AccountName, for caller: CallerContext) async throws {
        guard try await find(account, for: caller).role == .student else {
            _ = try await credentials.change(.account(account), ends: true) {
                try await people.request(RemoveAccount(account), context: caller)
            }
            return
        }
        _ = try await people.request(BeginErasure(of: account), timeout: Self.erasureTimeout, context: caller)
        await devices.end(account: account)
    }

    private func changeDisplayName(_ call: Call<DisplayNameChange>) async throws -> Answer<Account> {
        let principal = call.principal
        let account = try call.account()
        guard principal.account == account else {
            throw Problem(.forbidden, "This changes only one's own display name; see PUT /account/:account.")
        }
        guard principal.credential.kind == .signIn || principal.isOperator else {
            throw Problem(.forbidden, "A token cannot change a display name, except the operator's.")
        }
        let command = UpdateAccount(account, displayName: try await call.body().displayName)
        return Answer(
            try await credentials.change(.account(account)) {
                try await people.request(command, context: call.credentialedCaller)
            })
    }

    private func changePassword(_ call: Call<PasswordChange>) async throws -> Answer<Account> {
        let principal = call.principal
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

extension RouteCall {
    /// The account in the path.
    ///
    /// - Throws: ``Problem``.
    func account(_ name: String = "account") throws -> AccountName {
        guard let account = parameter(name)?.percentDecoded.flatMap({ AccountName($0) }) else {
            throw Problem(.invalidField, "\(name): expected \(AccountName.expected)", field: name)
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

/// The parameters of `GET /display-name`.
struct DisplayNamesQuery: Decodable, Sendable {
    let accounts: AccountNames

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accounts
    }
}

extension DisplayNamesQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        ["properties": ["accounts": ["description": "The accounts, separated by commas."]]]
    }
}

/// The names of accounts in a query, separated by commas, which no name contains.
struct AccountNames: Hashable, Sendable {
    let names: [AccountName]
}

extension AccountNames: LosslessStringConvertible {
    var description: String { names.map(\.description).joined(separator: ",") }

    init?(_ description: String) {
        let parts = description.split(separator: ",", omittingEmptySubsequences: false)
        names = parts.compactMap { AccountName(String($0)) }
        guard names.count == parts.count, names.count <= ReadDisplayNames.maxAccounts else { return nil }
    }
}

extension AccountNames: TextCodable {
    static let expected = "1 to \(ReadDisplayNames.maxAccounts) names of accounts, separated by commas"
    static let pattern = "^[A-Za-z0-9._@-]{1,64}(,[A-Za-z0-9._@-]{1,64}){0,\(ReadDisplayNames.maxAccounts - 1)}$"
    static let example = "ann,ben"
}
