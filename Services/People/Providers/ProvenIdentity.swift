import Schemas

/// A person as a provider has identified them.
struct ProvenIdentity: Sendable {
    let provider: IdentityProvider
    /// Whose ``subject`` it is, such as an issuer, a project or an app.
    let issuer: String
    let subject: String
    /// The address that the provider has verified.
    let email: String?
    /// What shall not be used by another device; `nil` for a code, which was stored when it was exchanged.
    let used: UsedTokenDocument?
    /// Whether someone without an account may register.
    var mayRegister = true
    /// Whether the provider says that the person may create classes.
    var isProfessor = false

    /// Of its ``IdentityDocument``.
    var id: String { "\(provider.rawValue) \(issuer) \(subject)" }

    /// As an account has it, if the provider is the university's.
    var openID: OpenIDSubject? {
        provider == .university ? OpenIDSubject(issuer: issuer, subject: subject) : nil
    }
}

/// Whom the university's provider has named for a code. A code is valid there once, but a person needs it several times: to sign in, to
/// register if there is no account, and again after an answer that was lost. Here it is valid for its device alone, while its flow is.
struct ExchangedCode: Codable, Hashable, Sendable {
    let subject: String
    let email: String?
    let mayRegister: Bool
    let isProfessor: Bool

    enum CodingKeys: String, CodingKey {
        case subject, email
        case mayRegister = "may_register"
        case isProfessor = "is_professor"
    }

    init(_ identity: ProvenIdentity) {
        subject = identity.subject
        email = identity.email
        mayRegister = identity.mayRegister
        isProfessor = identity.isProfessor
    }

    /// - Parameter issuer: The university's provider.
    func identity(at issuer: String) -> ProvenIdentity {
        ProvenIdentity(
            provider: .university, issuer: issuer, subject: subject, email: email, used: nil, mayRegister: mayRegister,
            isProfessor: isProfessor)
    }
}
