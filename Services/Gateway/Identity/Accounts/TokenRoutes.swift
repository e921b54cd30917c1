import Bus
import HTTPTypes
package import Schemas

/// Bearer tokens for scripts and other portals.
struct TokenRoutes: Feature {
    let people: CommandClient
    let credentials: Credentials

    var section: APISection {
        APISection(
            "Tokens",
            "A script or another portal sends a token as `Authorization: Bearer …`. It acts for an account, with some of the account's "
                + "rights, and may be restricted to a part of the cube. The token itself is shown only when it is made.")
    }

    var routes: [Route] {
        [
            Route(.get, "/token", right: .signedIn, query: PageQuery.self, answer: .ok(TokenPage.self)) { call, query in
                let principal = call.principal
                await credentials.reportUses()
                let page = try await people.request(
                    ListTokens(account: owner(for: principal), limit: query.pageSize, after: query.after), context: call.caller)
                let next = query.next("/token", at: page.next)
                return Answer(TokenPage(tokens: page.tokens, next: next), headers: .link(next: next))
            }.documented(
                "List the tokens", "One's own, and as a super user all. `last_used` is at most half a minute late.",
                answerHeaders: [.nextPage]),
            Route(
                .post, "/token", right: .signedIn, confirmed: true, body: AddToken.self, answer: .created(AddToken.Reply.self)
            ) { call in
                let principal = call.principal
                let command = try await call.body()
                guard command.account == nil || command.account == principal.account || principal.isOperator else {
                    throw Problem(
                        .forbidden, "You can make tokens only for yourself; for other accounts use the operator's token.",
                        field: "account")
                }
                let made = try await people.request(command, context: call.credentialedCaller)
                return Answer(made, headers: [.location: "/token/\(made.token.id)"])
            }.documented(
                "Make a token",
                "`secret` is the token. `rights` are some of the account's. `scope` restricts it to channels, areas and subjects. "
                    + "A token is for oneself; with the operator's token `account` may be another account. An account has at most 100.",
                answerHeaders: [.location], problems: [.notFound, .conflict]),
            Route(.delete, "/token/:tokenID", right: .signedIn, confirmed: true, answer: .noContent) { call in
                let principal = call.principal
                let command = RemoveToken(try call.identifier("tokenID"), account: owner(for: principal))
                _ = try await credentials.change(.token(command.id), ends: true) {
                    try await people.request(command, context: call.credentialedCaller)
                }
                return Answer()
            }.documented("Revoke a token", "It ends within a second."),
        ]
    }

    /// The account whose tokens the caller may see; `nil` for all.
    private func owner(for principal: Principal) -> AccountName? {
        principal.isAdministrator ? nil : principal.account
    }
}

/// One page of the tokens. `next` is the path of the next page; the last page has none.
struct TokenPage: Codable, Sendable {
    let tokens: [Token]
    let next: String?
}

extension AddToken: HasExample {
    package static var example: AddToken { AddToken(name: "Canteen's menu", rights: [.read, .send]) }
}
