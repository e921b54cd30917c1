package import Base

/// What shows who a person is: a token or code of a provider, or account name and password. Each provider has its own fields.
///
/// `{"provider":"google","id_token":"eyJ…"}`
package struct PersonCredential: Codable, Checked, Hashable, Sendable {
    package let provider: IdentityProvider
    /// An ID token of `google`, `firebase` or `university`. If it has a `nonce`, that is the SHA-256 of the device's public key (the bytes of
    /// the point) in URL-safe Base64.
    package let idToken: Secret?
    /// A user's access token of `facebook`.
    package let accessToken: Secret?
    /// The code with which the browser came back from `university`.
    package let authorizationCode: Secret?
    /// What ``BeginOpenIDSignIn`` has answered, with an ``authorizationCode``.
    package let flow: Secret?
    /// The query parameters `state` and `iss` beside the code.
    package let state: Secret?
    package let issuer: String?
    /// With `password`.
    package let account: String?
    package let password: Secret?
    /// A code of the authenticator app, or a recovery code, if the account has a second factor.
    package let code: Secret?

    package init(
        provider: IdentityProvider, idToken: Secret? = nil, accessToken: Secret? = nil, authorizationCode: Secret? = nil,
        flow: Secret? = nil, state: Secret? = nil, issuer: String? = nil, account: String? = nil, password: Secret? = nil,
        code: Secret? = nil
    ) {
        self.provider = provider
        self.idToken = idToken
        self.accessToken = accessToken
        self.authorizationCode = authorizationCode
        self.flow = flow
        self.state = state
        self.issuer = issuer
        self.account = account
        self.password = password
        self.code = code
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case provider, flow, state, account, password, code
        case idToken = "id_token"
        case accessToken = "access_token"
        case authorizationCode = "authorization_code"
        case issuer = "iss"
    }

    /// What a provider's credential consists of. The device signs its hash (``DeviceProof``).
    package enum Kind: Hashable, Sendable {
        case idToken(Secret)
        case accessToken(Secret)
        case authorizationCode(Secret, flow: Secret, state: Secret)
        case password(account: String, Secret)
    }

    /// `nil` if the fields do not fit together, which ``check()`` refuses.
    package var kind: Kind? {
        switch provider {
        case .google, .firebase: return idToken.map(Kind.idToken)
        case .facebook: return accessToken.map(Kind.accessToken)
        case .university:
            if let idToken { return .idToken(idToken) }
            guard let authorizationCode, let flow, let state else { return nil }
            return .authorizationCode(authorizationCode, flow: flow, state: state)
        case .password:
            guard let account, let password else { return nil }
            return .password(account: account, password)
        }
    }

    /// The text whose SHA-256 is the subject of the device's proof: the token, the code, or the account's name in lower case.
    package var provenText: String {
        switch kind {
        case .idToken(let text)?, .accessToken(let text)?, .authorizationCode(let text, _, _)?: text.text
        case .password(let account, _)?: account.lowercased()
        case nil: ""
        }
    }

    package func check() throws(SchemaViolation) {
        try Self.check(idToken, CodingKeys.idToken)
        try Self.check(accessToken, CodingKeys.accessToken)
        try Self.check(authorizationCode, CodingKeys.authorizationCode)
        try Self.check(flow, CodingKeys.flow)
        try Self.check(state, CodingKeys.state)
        try TextLimits(max: 2_000).check(issuer, CodingKeys.issuer)
        try TextLimits.sender.check(account, CodingKeys.account)
        try PeopleLimits.checkGiven(password, CodingKeys.password)
        try PeopleLimits.checkGiven(code, CodingKeys.code)
        if let field = unexpectedField {
            throw SchemaViolation(field, "expected none with the provider \(provider.rawValue)")
        }
        guard kind != nil else { throw SchemaViolation(missingField, "missing with the provider \(provider.rawValue)") }
    }

    /// A field of another provider.
    private var unexpectedField: CodingKeys? {
        let given: [(CodingKeys, Bool)] = [
            (.idToken, idToken != nil), (.accessToken, accessToken != nil), (.authorizationCode, authorizationCode != nil),
            (.flow, flow != nil), (.state, state != nil), (.issuer, issuer != nil), (.account, account != nil),
            (.password, password != nil),
        ]
        let expected: Set<CodingKeys> =
            switch provider {
            case .google, .firebase: [.idToken]
            case .facebook: [.accessToken]
            case .university: idToken == nil ? [.authorizationCode, .flow, .state, .issuer] : [.idToken]
            case .password: [.account, .password]
            }
        return given.first { $0.1 && !expected.contains($0.0) }?.0
    }

    private var missingField: CodingKeys {
        switch provider {
        case .google, .firebase: .idToken
        case .facebook: .accessToken
        case .university: authorizationCode == nil ? .authorizationCode : flow == nil ? .flow : .state
        case .password: account == nil ? .account : .password
        }
    }

    /// The error does not contain the secret.
    private static func check(_ secret: Secret?, _ field: CodingKeys) throws(SchemaViolation) {
        guard let secret, let problem = PersonLimits.providerToken.problem(with: secret.text) else { return }
        throw SchemaViolation(field, problem)
    }

    /// Why its password cannot be that of a new account; `nil` if it can, or the provider is another one.
    var newPasswordProblem: SchemaViolation? {
        guard provider == .password else { return nil }
        do {
            try PeopleLimits.checkNew(password, CodingKeys.password)
            return nil
        } catch {
            return SchemaViolation(field: "credential.\(error.field)", problem: error.problem, limit: error.limit)
        }
    }
}
