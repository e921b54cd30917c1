import Base
import FoundationEssentials
import Hummingbird
import MobileApp

/// The person's account on the phone. The screens about people are in the web app alone, so that only scripts and tests use this.
struct AccountActions: Sendable {
    let phone: SimulatedPhone

    func add(to router: Router<BasicRequestContext>) {
        router.put("/account") { request, _ in
            let person = try await PhonePage.body(Person.self, of: request, upTo: Person.maxBytes)
            return try await answer { try await $0.signIn(try person.credential) }
        }
        router.post("/account") { request, _ in
            let person = try await PhonePage.body(Person.self, of: request, upTo: Person.maxBytes)
            return try await answer {
                try await $0.register(person.account, with: try person.credential, key: "\(phone.name) \(person.account)")
            }
        }
        router.delete("/account") { _, _ in try await answer { try await $0.signOut() } }
        router.get("/account/person") { _, _ in
            try await refusing { account in
                let answer = try await account.request(HubRequest(.get, "/user"))
                guard answer.status == 200 else { throw Refusal(.init(code: answer.status), "the hub answers \(answer.status)") }
                return PhonePage.answer(try JSONValue(parsing: answer.body))
            }
        }
    }

    /// Who signs in or registers: with the password, or with an ID token of Firebase.
    private struct Person: Decodable {
        let account: String
        let password: String?
        let idToken: String?

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case account, password
            case idToken = "id_token"
        }

        static let maxBytes = 16_384

        var credential: Account.Credential {
            get throws {
                if let idToken { return .firebase(idToken: idToken) }
                guard let password else { throw Refusal(.badRequest, "expected a password or an id_token") }
                return .password(account: account, password: password)
            }
        }
    }

    private func answer(_ body: (Account) async throws -> Void) async throws -> Response {
        try await refusing(body)
        phone.changes.tell()
        return PhonePage.noContent
    }

    /// - Throws: ``Refusal``, with the hub's status if the hub refuses something.
    private func refusing<Value>(_ body: (Account) async throws -> Value) async throws -> Value {
        do {
            return try await body(phone.app.account)
        } catch let refusal as Account.Refusal {
            throw Refusal(.init(code: refusal.status), "\(refusal.field.map { "\($0): " } ?? "")\(refusal.detail ?? "")")
        } catch is Account.SignedOut {
            throw Refusal(.unauthorized, "nobody is signed in on this phone")
        }
    }
}

extension SimulatedPhone {
    /// For the page's state.
    func accountState() async throws -> JSONValue {
        [
            "name": try await app.account.name().map { .string($0) } ?? .null,
            "signed_out": .boolean(try await app.account.wasSignedOut()),
        ]
    }
}
