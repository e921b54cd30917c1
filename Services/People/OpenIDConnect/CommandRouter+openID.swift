import Bus
import Logging
import Schemas
import ServiceKit

extension CommandRouter {
    /// The commands for signing in at the OpenID Connect provider.
    ///
    /// - Parameter openID: `nil` if no provider is set up.
    mutating func serveOpenID(_ openID: OpenIDSignIn?, _ people: People) {
        on(ReadSignInMethods.self) { _, _ in ReadSignInMethods.Reply(provider: openID != nil) }
        on(BeginOpenIDSignIn.self) { command, context in
            let client = context.address.flatMap { IPAddress($0) }
            return try await openID.required.begin(command, from: client, now: people.changes.now())
        }
        on(FinishOpenIDSignIn.self) { command, _ in
            let openID = try openID.required
            return try await SignInCount.openID.count {
                let person = try await openID.finish(command, now: people.changes.now())
                let secret = Secret.newSignIn()
                let arrival = try await people.changes.make(by: .provider(command.address)) { change in
                    try change.arrived(
                        person, rolesAreMapped: openID.settings.roles.isSet, secret: secret, address: command.address)
                }
                switch arrival {
                case .signedIn(let credential):
                    return .signedIn(SignedIn(secret: secret, credential: credential))
                case .newcomer(let newcomer):
                    return .newAccount(newcomer.account, ticket: try await openID.ticket(for: newcomer))
                case .disabled(let account):
                    openID.logger.warning(
                        "an account is disabled: the provider gives it no role any more", metadata: ["account": "\(account)"])
                    throw CommandFailure(
                        .forbidden,
                        "the university's provider gives you no role here any more; the account \(account) is disabled")
                case .lastSuperUser(let account):
                    openID.logger.warning(
                        "the provider gives an account no role any more, but it is the last super user who can sign in",
                        metadata: ["account": "\(account)"])
                    throw CommandFailure(.forbidden, "the university's provider gives you no role here any more")
                }
            }
        }
        on(AcceptOpenIDAccount.self) { command, _ in
            let newcomer = try await openID.required.newcomer(command.ticket, now: people.changes.now())
            let secret = Secret.newSignIn()
            let credential = try await people.changes.make(by: .provider(command.address)) { change in
                try change.accepted(newcomer, secret: secret, address: command.address)
            }
            return SignedIn(secret: secret, credential: credential)
        }
    }
}

extension AuditAuthor {
    /// The author of what the provider's claims change. It is no account: the browser may be signed in as another person, and the
    /// person who comes from the provider has not asked for the change.
    fileprivate static func provider(_ address: String) -> AuditAuthor {
        AuditAuthor(actor: nil, address: address)
    }
}

extension OpenIDSignIn? {
    fileprivate var required: OpenIDSignIn {
        get throws(CommandFailure) {
            guard let self else {
                throw CommandFailure(.notFound, "no OpenID Connect provider is set up (MSI_OIDC_ISSUER)")
            }
            return self
        }
    }
}
