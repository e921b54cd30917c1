import Crypto
import DeviceTokens
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Schemas
import ServiceKit

/// The result of the check of a request's credential.
enum Authentication: Sendable {
    /// The request has no credential, or a cookie of a sign-in that has ended.
    case anonymous
    case account(Principal)
    /// The token of a person's device. It has no right of the hub, whatever the role of the account.
    case device(PersonCaller)
    /// The bearer token is not valid. Such a request is refused by every route.
    case invalidToken(Problem)
    /// The credential does not count for this request, for the given reason. Routes for anyone answer as to an anonymous request.
    case unusable(any Error)

    var principal: Principal? {
        guard case .account(let principal) = self else { return nil }
        return principal
    }

    var person: PersonCaller? {
        guard case .device(let person) = self else { return nil }
        return person
    }

    /// The account that makes the request, by whatever credential; `nil` for an anonymous request.
    var account: AccountName? { principal?.account ?? person?.account }

    /// The account's name, as the commands of the request carry it.
    var actor: String? { account?.description }

    /// The caller's account on a route that needs none; `nil` for an anonymous request, and for that of a device.
    ///
    /// - Throws: ``Problem`` for a bearer token that is not valid.
    var optionalAccount: Principal? {
        get throws {
            if case .invalidToken(let problem) = self { throw problem }
            return principal
        }
    }

    /// The caller's account on a route that needs one.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure`` if the caller's credential cannot be checked now.
    var requiredAccount: Principal {
        get throws {
            switch self {
            case .account(let principal): return principal
            case .device: throw Problem(.forbidden, "This is not for the device of a person (/user).")
            case .anonymous: throw Problem(.unauthenticated, "This requires a sign-in (POST /session) or a bearer token.")
            case .invalidToken(let problem): throw problem
            case .unusable(let error): throw error
            }
        }
    }

    /// The person on a route of persons.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure`` if the token cannot be checked now.
    var requiredPerson: PersonCaller {
        get throws {
            switch self {
            case .device(let person): return person
            case .account: throw Problem(.forbidden, "This requires the token of a person's device (PUT /user).")
            case .anonymous:
                throw Problem(
                    .unauthenticated, "This requires the token of a person's device (PUT /user).", field: "Authorization")
            case .invalidToken(let problem): throw problem
            case .unusable(let error): throw error
            }
        }
    }

    init(_ check: DeviceAccess.Check) {
        switch check {
        case .caller(let person): self = .device(person)
        case .refused(let refusal):
            self = .invalidToken(Problem(.unauthenticated, refusal.text, field: "Authorization"))
        case .unknowable:
            self = .unusable(
                CommandFailure(.unavailable, "the token cannot be checked while the people service is away; try again later"))
        }
    }
}

/// Determines the account of a request from its cookie or bearer token. ``Route`` decides what the account may do.
struct AuthenticationMiddleware: RouterMiddleware {
    let credentials: Credentials
    let devices: DeviceAccess
    let limits: RequestLimits

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        authenticate(request, &context)
        return try await next(request, context)
    }

    private func authenticate(_ request: Request, _ context: inout GatewayContext) {
        let given: PresentedCredential
        do throws(Problem) {
            guard let found = try PresentedCredential(of: request, isSecure: context.isSecure) else { return }
            given = found
        } catch {
            context.authentication = .invalidToken(error)
            return
        }
        if let token = given.deviceToken {
            if let check = devices.check(token, given.hash) {
                context.authentication = Authentication(check)
            } else {
                context.missingCheck = { timeout in
                    await devices.confirm(within: timeout)
                    return Authentication(devices.checkNow(token, given.hash))
                }
            }
            return
        }
        // Browsers add cookies to the requests of all pages.
        if given.kind == .cookie, !Self.readingMethods.contains(request.method), !context.isOwnOrigin {
            context.authentication = .unusable(
                Problem(
                    .originRefused,
                    "A change with a cookie needs the gateway's own Origin, or Sec-Fetch-Site: same-origin. Other portals and scripts use bearer tokens.",
                    field: "Origin"))
            return
        }
        let (client, address) = (context.client, context.clientAddress)
        switch credentials.copy(of: given.hash) {
        case .known(let credential): context.authentication = authentication(by: credential, given, from: address)
        case .unknown: context.authentication = authentication(by: nil, given, from: address)
        case .ask:
            context.missingCheck = { timeout in
                do {
                    // Limits how many requests invented credentials cause at the people service.
                    let credential = try await credentials.find(given.hash, within: timeout, for: client) {
                        try limits.countLookup(from: client)
                    }
                    return authentication(by: credential, given, from: address)
                } catch {
                    return .unusable(error)
                }
            }
        }
    }

    /// - Parameter credential: `nil` if there is none.
    private func authentication(
        by credential: Credential?, _ given: PresentedCredential, from address: String?
    ) -> Authentication {
        guard let credential else {
            return given.kind == .cookie
                ? .anonymous
                : .invalidToken(
                    Problem(.unauthenticated, "The bearer token is unknown, revoked or expired.", field: "Authorization"))
        }
        let principal = Principal(credential, hash: given.hash)
        credentials.used(principal, at: .now, from: address)
        return .account(principal)
    }

    private static let readingMethods: Set<HTTPRequest.Method> = [.get, .head, .options]
}

/// The credential that a request carries. Only its hash is kept, and of a device's token the text, until its signature was checked.
struct PresentedCredential: Hashable, Sendable {
    enum Kind: Sendable {
        case cookie
        case token
    }

    let kind: Kind
    let hash: CredentialHash
    /// `nil` for any other credential. It is not checked yet.
    let deviceToken: Secret?

    /// A bearer token takes precedence over a cookie.
    ///
    /// - Parameter isSecure: Whether the client's connection is encrypted.
    /// - Returns: `nil` if the request has none.
    /// - Throws: ``Problem`` if `Authorization` is not a bearer token.
    init?(of request: Request, isSecure: Bool) throws(Problem) {
        if let authorization = request.headers.value(of: .authorization) {
            guard let token = Self.token(in: authorization) else {
                throw Problem(.unauthenticated, "Authorization: expected one bearer token", field: "Authorization")
            }
            self.init(.token, Secret(token))
        } else if request.headers.contains(.cookie), let cookie = GatewayCookie.session.value(in: request, isSecure: isSecure) {
            self.init(.cookie, Secret(cookie))
        } else {
            return nil
        }
    }

    private static let scheme = "Bearer "

    /// The token in the value of `Authorization`; `nil` if it is not one bearer token.
    static func token(in authorization: String) -> String? {
        // The usual form: one space, and visible characters of ASCII.
        if authorization.utf8.starts(with: scheme.utf8) {
            let token = authorization.utf8.dropFirst(scheme.utf8.count)
            if !token.isEmpty, token.allSatisfy({ (0x21...0x7E).contains($0) }) { return String(Substring(token)) }
        }
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: true)
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
    }

    init(_ kind: Kind, _ secret: Secret) {
        self.kind = kind
        deviceToken = kind == .token && DeviceToken.hasForm(secret.text) ? secret : nil
        var (text, hashing) = (secret.text, SHA256())
        text.withUTF8 { hashing.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        hash = hashing.finalize().withUnsafeBytes { CredentialHash(digest: $0) }
    }
}
