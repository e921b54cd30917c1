import Base
import HTTPRouting
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

/// The pages at which people sign in. A page's form comes back to the page's own address, so the query has what the app asked for.
struct SignInRoutes: Sendable {
    let keys: SigningKeys
    let people: People

    func add(to router: Router<EmulatorRequestContext>) {
        for provider in Provider.allCases {
            let path = RouterPath(provider.signInPath)
            router.get(path) { request, _ in
                _ = try SignInRequest(provider, request.queryParameters)
                return Response.page(EmulatorPage.signIn(provider, await people.all))
            }
            router.post(path) { request, _ in
                let signIn = try SignInRequest(provider, request.queryParameters)
                return Response.seeOther(try await answer(try await PageForm(of: request), to: signIn))
            }
        }
    }

    /// The address at which the browser continues.
    private func answer(_ form: PageForm, to signIn: SignInRequest) async throws -> String {
        switch form.action {
        case .cancel: return signIn.addressOfCancel
        case .fail: return signIn.addressOfFailure
        case .choose(let sub): return signIn.address(with: try await token(of: await people.person(sub), signIn))
        case .add(let person):
            try await people.put(person)
            return signIn.address(with: try await token(of: person, signIn))
        }
    }

    private func token(of person: EmulatedPerson, _ signIn: SignInRequest) async throws -> String {
        let claims: JSONValue
        switch signIn.provider {
        case .google: claims = ProviderClaims.google(person, nonce: signIn.nonce, scopes: signIn.scopes, now: .now)
        case .firebase: claims = ProviderClaims.firebase(person, now: .now)
        case .facebook: return FacebookToken(ProviderClaims.facebook(person, now: .now)).text
        }
        let key = try await keys.key(.current, of: signIn.provider)
        return try SignedToken.text(header: SignedToken.header(key), claims: claims, by: key)
    }
}

/// The page that says what the emulator is, at its root.
struct StartRoutes: Sendable {
    let people: People

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("/") { _, _ in Response.page(EmulatorPage.start(await people.all)) }
        router.post("/") { request, _ in
            guard case .add(let person) = try await PageForm(of: request).action else {
                throw Refusal(.badRequest, "nobody signs in here; the app leads to the page of a provider")
            }
            try await people.put(person)
            return Response.seeOther("/")
        }
    }
}

/// What a person does on a page.
struct PageForm: Sendable {
    enum Action: Sendable {
        case choose(String)
        case add(EmulatedPerson)
        case cancel, fail
    }

    /// The maximum number of characters of a field.
    static let maxLength = 100

    let action: Action

    /// - Throws: ``Refusal`` for a form that no page has.
    init(of request: Request) async throws {
        let fields = QueryParameters(String(decoding: try await request.wholeBody(), as: UTF8.self))
        if let sub = fields["sub"], EmulatedPerson.isSub(sub) {
            action = .choose(sub)
            return
        }
        switch fields["action"] {
        case "cancel": action = .cancel
        case "fail": action = .fail
        case "add":
            let names = ["given_name", "family_name"].map { fields[$0] ?? "" }
            let email = fields["email"] ?? ""
            guard names.allSatisfy({ !$0.isEmpty }), (names + [email]).allSatisfy({ $0.count <= Self.maxLength }) else {
                throw Refusal(
                    .badRequest, "expected a first and a last name; no field has more than \(Self.maxLength) characters")
            }
            action = .add(
                EmulatedPerson(
                    sub: EmulatedPerson.newSub(), firstName: names[0], lastName: names[1], email: email.isEmpty ? nil : email,
                    isEmailVerified: fields["email_verified"] != nil))
        default: throw Refusal(.badRequest, "expected a form of this page")
        }
    }
}

extension Response {
    fileprivate static func page(_ html: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
            ],
            body: .init(byteBuffer: ByteBuffer(string: html)))
    }

    /// A redirect after a form. The address has tokens, so no cache keeps it.
    fileprivate static func seeOther(_ address: String) -> Response {
        Response(status: .seeOther, headers: [.location: address, .cacheControl: "no-store"])
    }
}
