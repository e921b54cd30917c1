import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

/// What students do with their secrets and their personal fields, right and wrong. What only the person may see is not kept for the search.
struct StudentVisit: Sendable {
    let visit: SecretVisit
    let identity: IdentityServer

    private var search: SecretSearch { visit.search }
    private static let sub = "200000000000000000001"

    /// A device that is signed in.
    private struct Session {
        let device: TestDevice
        let id: String
        let token: Secret

        var header: [String: String] { ["Authorization": "Bearer \(token.text)"] }
    }

    func use() async throws {
        let email = search.keep("emil.private@example.edu", as: "profile: the e-mail")
        try await identity.put(Self.sub, ["email": .string(email), "email_verified": true])
        let dana = try await byPassword()
        let emil = try await byGoogle()
        try await fillProfile(of: dana)
        try await visit.stack.withPhone { phone in
            search.keep(phone.token, as: "the phone's token")
            let registered = try await call(
                .PUT, "/user/devices/\(dana.id)", dana, ["fcm_token": .string(phone.token), "language": "en"])
            #expect(registered.status == 200, "\(registered)")
            // The push goes over the message log and the relay.
            #expect(try await call(.POST, "/user/friends", emil, ["account": "dana"]).status == 200)
            _ = try await phone.events(1)
        }
        #expect(try await call(.GET, "/users/dana", emil).status == 200)
        #expect(try await call(.GET, "/user/devices", dana).status == 200)
        try await refresh(dana)
        try await misuse(emil)
        #expect(try await call(.DELETE, "/user/devices/\(emil.id)", emil).status == 204)
        #expect(try await call(.GET, "/user", emil).status == 401)
    }

    // MARK: Sign-ins

    /// Registers with a code of the super user and a password, and signs in.
    private func byPassword() async throws -> Session {
        let header = ["Authorization": "Bearer \(search.text(of: "the operator's token"))"]
        let order: JSONValue = [
            "grants": "account", "uses": 1, "expires": .integer((UnixMilliseconds.now + .seconds(3_600)).rawValue),
        ]
        let made = try await visit.call(.POST, "/access-codes", headers: header, order, secretAnswer: true)
        let code = search.keep(try #require(try made.json["code"]?.string, "\(made)"), as: "the access code")
        search.keep(Secret(code).codeDigits, as: "the digits of the access code")
        let password = Secret(search.keep("Dana's unguessable phrase", as: "Dana's password"))
        let credential = PersonCredential(provider: .password, account: "dana", password: password)
        return try await signIn("dana", with: credential, on: TestDevice(.android), code: code)
    }

    /// Registers with an ID token of Google that is for the device alone, and signs in.
    private func byGoogle() async throws -> Session {
        let device = TestDevice()
        let token = try await identity.token(
            .google, of: Self.sub, [.init("claims", ["nonce": .string(device.thumbprint)])])
        search.keep(token.text, as: "Google's token")
        return try await signIn("emil", with: PersonCredential(provider: .google, idToken: token), on: device)
    }

    private func signIn(
        _ account: String, with credential: PersonCredential, on device: TestDevice, code: String? = nil
    ) async throws -> Session {
        var registration = try device.signInBody(with: credential, nonce: try await nonce())
        registration["account"] = .string(account)
        registration["access_code"] = code.map { .string($0) }
        let registered = try await visit.call(.POST, "/user", registration, secretAnswer: true)
        #expect(registered.status == 201, "\(registered)")
        let body = try device.signInBody(with: credential, nonce: try await nonce())
        let answer = try await visit.call(.PUT, "/user", body, secretAnswer: true)
        let token = try #require(try answer.json["token"]?.string, "\(answer)")
        search.keep(token, as: "the device's token of \(account)")
        return Session(device: device, id: try #require(try answer.json["device"]?.string), token: Secret(token))
    }

    private func nonce() async throws -> Secret {
        let answer = try await visit.call(.GET, "/user/challenge", secretAnswer: true)
        return Secret(try #require(try answer.json["nonce"]?.string, "\(answer)"))
    }

    /// Exchanges the device's key for another token.
    private func refresh(_ session: Session) async throws {
        let nonce = try await nonce()
        let proof = try session.device.proof(.token, nonce: nonce, subject: session.id)
        let body: JSONValue = ["device": .string(session.id), "nonce": .string(nonce.text), "proof": .string(proof)]
        let answer = try await visit.call(.POST, "/user/token", body, secretAnswer: true)
        search.keep(try #require(try answer.json["token"]?.string, "\(answer)"), as: "the device's second token")
    }

    // MARK: Personal fields

    private func fillProfile(of session: Session) async throws {
        let fields = [
            "first_name": "Danaelle-Quince", "last_name": "Diaz-Montgomery", "born": "2003-11-17",
            "gender": "rather not a box", "bio": "Keeps bees on the roof of the library",
        ]
        var profile: JSONValue = ["visibility": [:]]
        for (name, text) in fields {
            search.keep(text, as: "profile: \(name)")
            profile[name] = .string(text)
        }
        let answer = try await visit.call(.PUT, "/user/profile", headers: session.header, profile, secretAnswer: true)
        #expect(answer.status == 200, "\(answer)")
    }

    private func call(
        _ method: HTTPMethod, _ path: String, _ session: Session, _ body: JSONValue? = nil
    ) async throws -> HTTPAnswer {
        try await visit.call(method, path, headers: session.header, body)
    }

    // MARK: Misuse

    /// Credentials that are refused, and tokens in wrong places.
    private func misuse(_ session: Session) async throws {
        let thief = TestDevice()
        var refused = [PersonCredential(provider: .google, idToken: Secret(search.text(of: "Google's token")))]
        let orders: [(IdentityProvider, JSONValue.Member)] = [
            (.google, .init("claims", ["exp": 1])), (.google, .init("alg", "none")), (.google, .init("key", "unknown")),
            (.firebase, .init("claims", ["aud": "another"])), (.facebook, .init("claims", ["app_id": "another"])),
        ]
        for (number, (provider, change)) in orders.enumerated() {
            let token = try await identity.token(provider, of: "thief-\(number)", [change])
            search.keep(token.text, as: "a refused token, \(number)")
            let (idToken, accessToken) = provider == .facebook ? (nil, token) : (token, nil)
            refused.append(PersonCredential(provider: provider, idToken: idToken, accessToken: accessToken))
        }
        let wrong = Secret(search.keep("not Dana's phrase at all", as: "a student's wrong password"))
        refused.append(PersonCredential(provider: .password, account: "dana", password: wrong))
        for credential in refused {
            let answer = try await visit.call(
                .PUT, "/user", try thief.signInBody(with: credential, nonce: try await nonce()))
            #expect(answer.status == 401, "\(credential.provider): \(answer)")
        }
        let token = session.token.text
        for (method, path, headers) in [
            (.GET, "/channel", session.header), (.GET, "/session", session.header), (.GET, "/user?token=\(token)", [:]),
            (.GET, "/users/\(token)", session.header), (.GET, "/user", ["Authorization": "Bearer \(token)x"]),
            (.POST, "/user/friends", session.header.merging(["Idempotency-Key": token]) { $1 }),
        ] as [(HTTPMethod, String, [String: String])] {
            _ = try await visit.call(method, path, headers: headers)
        }
    }
}
