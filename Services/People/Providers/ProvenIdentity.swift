import Base
import DeviceTokens
import FoundationEssentials
import Schemas

/// A person as a provider has identified them.
struct ProvenIdentity: Sendable {
    let provider: IdentityProvider
    /// Whose ``subject`` it is, such as an issuer, a project or an app.
    let issuer: String
    let subject: String
    /// The address that the provider has verified.
    let email: String?
    /// What shall not be used by another device; `nil` for a code, which is valid once.
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

/// The codes of the university's provider that were exchanged. A code is valid there once, but a person needs it several times: to sign in,
/// to register if there is no account, and again after an answer that was lost. Here it is valid for its device alone, while its flow is.
/// Pure.
struct ExchangedCodes: Sendable {
    private struct Exchange {
        let identity: ProvenIdentity
        let device: String
        let expires: UnixMilliseconds
    }

    private let maxCodes: Int
    /// By the codes' SHA-256.
    private var exchanges: [CredentialHash: Exchange] = [:]

    init(maxCodes: Int = 20_000) {
        self.maxCodes = maxCodes
    }

    /// - Parameter device: The thumbprint of its key.
    /// - Returns: `nil` for a code that was not exchanged.
    /// - Throws: ``IDTokenRefusal/replayed`` for another device.
    func identity(of code: Secret, device: String, now: UnixMilliseconds) throws(IDTokenRefusal) -> ProvenIdentity? {
        guard let exchange = exchanges[CredentialHash(of: code)], now < exchange.expires else { return nil }
        guard exchange.device == device else { throw .replayed }
        return exchange.identity
    }

    mutating func add(_ identity: ProvenIdentity, of code: Secret, device: String, now: UnixMilliseconds) {
        if exchanges.count >= maxCodes { exchanges = exchanges.filter { now < $0.value.expires } }
        // Who has a code that is not remembered begins the sign-in again.
        guard exchanges.count < maxCodes else { return }
        exchanges[CredentialHash(of: code)] = Exchange(
            identity: identity, device: device, expires: now + OpenIDFlow.lifetime)
    }
}
