import Hummingbird

/// `POST /token`: Google's OAuth 2.0 token endpoint.
struct TokenRoute: Sendable {
    private static let maxBodyBytes = 16_384

    let issuer: TokenIssuer
    let rules: Adjustable<OAuthRules>
    let faults: FaultInjector

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource("token", [.post: { request, _ in try await answer(request) }])
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = try await request.bytes(max: Self.maxBodyBytes)
        let response = try await faults.perform(.token, .none) {
            do {
                return Response(.ok, try await issuer.issue(for: try Self.form(body), by: rules.withLock { $0 }))
            } catch let error as OAuthError {
                return Response(.badRequest, error.document)
            }
        }
        return response ?? .unanswerable
    }

    private static func form(_ body: [UInt8]) throws -> TokenIssuer.Form {
        guard let text = String(validating: body, as: UTF8.self),
            let form = try? URLEncodedFormDecoder().decode(TokenIssuer.Form.self, from: text)
        else { throw OAuthError.invalidRequest("The body is not a form (application/x-www-form-urlencoded)") }
        return form
    }
}
