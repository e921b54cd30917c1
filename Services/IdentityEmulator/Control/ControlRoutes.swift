import Base
import HTTPTypes
import Hummingbird
import Schemas

/// `/control`: what tests change and ask for.
struct ControlRoutes: Sendable {
    let keys: SigningKeys
    let people: People
    let traffic: Traffic

    func add(to router: Router<EmulatorRequestContext>) {
        router.put("control/people/:sub") { request, context in
            let sub = try context.parameters.require("sub")
            let claims = try await request.document(JSONValue.self)
            guard EmulatedPerson.isSub(sub), claims.members != nil else {
                throw Refusal(
                    .badRequest,
                    "expected an identifier of 1 to 128 letters, digits, dots, hyphens and underscores, and an object of claims")
            }
            try await people.put(EmulatedPerson(sub: sub, claims: claims))
            return Response(status: .noContent)
        }
        router.post("control/token") { request, _ in
            Response(.ok, ["token": .string(try await token(request.document(TokenOrder.self)))])
        }
        router.post("control/keys/:provider/rotate") { _, context in
            let provider = try Self.provider(context)
            guard provider != .facebook else { throw Refusal(.notFound, "Facebook's tokens have no key") }
            return Response(.ok, ["kid": .string(try await keys.rotate(provider).id)])
        }
        router.put("control/faults/:provider") { request, context in
            traffic.set(try await request.document(Fault.self), of: try Self.provider(context))
            return Response(status: .noContent)
        }
        router.get("control/requests") { _, _ in Response(.ok, traffic.counts) }
    }

    private static func provider(_ context: EmulatorRequestContext) throws -> Provider {
        guard let provider = Provider(rawValue: try context.parameters.require("provider")) else {
            throw Refusal(.notFound, "the providers are \(Provider.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return provider
    }

    /// A token as the order describes it: right without further fields.
    private func token(_ order: TokenOrder) async throws -> String {
        let person = await people.person(order.sub)
        let changes = order.claims ?? [:]
        let claims =
            switch order.provider {
            case .google: ProviderClaims.google(person, now: .now)
            case .firebase: ProviderClaims.firebase(person, now: .now)
            case .facebook: ProviderClaims.facebook(person, now: .now)
            }
        guard order.provider != .facebook else { return FacebookToken(claims.changed(by: changes)).text }
        let key = try await keys.key(order.key ?? .current, of: order.provider)
        var header = SignedToken.header(key).changed(by: order.header ?? [:])
        if let algorithm = order.alg { header["alg"] = .string(algorithm) }
        return try SignedToken.text(header: header, claims: claims.changed(by: changes), by: key)
    }
}

/// The body of `POST /control/token`.
struct TokenOrder: Decodable, Checked, Sendable {
    let provider: Provider
    /// Of a known person, or of anyone, who then has no claims beside the usual ones.
    let sub: String
    /// Changes of the claims, or of what Facebook knows of the token. A null removes one.
    let claims: JSONValue?
    /// Changes of the header. A null removes a field.
    let header: JSONValue?
    let key: SigningKeys.Kind?
    /// The header's `alg`, and how the token is signed: see ``SignedToken``.
    let alg: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case provider, sub, claims, header, key, alg
    }

    func check() throws(SchemaViolation) {
        for (field, value) in [(CodingKeys.claims, claims), (.header, header)] where value != nil && value?.members == nil {
            throw SchemaViolation(field, "expected an object")
        }
        guard provider == .facebook else { return }
        for (field, isGiven) in [(CodingKeys.header, header != nil), (.key, key != nil), (.alg, alg != nil)] where isGiven {
            throw SchemaViolation(field, "Facebook's access tokens are no JSON Web Tokens")
        }
    }
}
