import Base
import Schemas
import ServiceKit

/// The providers of students besides the university's, and who may register without one.
struct ProviderSettings: Sendable {
    enum Registration: String {
        /// Nobody.
        case off
        /// Those with an access code.
        case code
        case anyone
    }

    struct Facebook: Sendable {
        let appID: String
        let appSecret: Secret
    }

    /// First that of the web app. Without any, nobody signs in with Google.
    let googleClientIDs: [String]
    /// Empty for all accounts.
    let googleDomains: [String]
    /// `nil` if nobody signs in with Firebase.
    let firebaseProject: String?
    /// `nil` if only native apps do.
    let firebaseSignInURL: String?
    /// `nil` if nobody signs in with Facebook.
    let facebook: Facebook?
    let registration: Registration
    let addresses: ProviderAddresses

    /// - Throws: ``ConfigurationError``.
    init(_ settings: SettingValues) throws {
        googleClientIDs = try settings.value(.googleClientIDs)
        googleDomains = try settings.value(.googleDomains)
        firebaseProject = try settings.optional(.firebaseProject)
        firebaseSignInURL = try settings.optional(.firebaseSignInURL)
        facebook = try settings.optional(.facebookAppID).map { id in
            guard let secret = try settings.optional(.facebookAppSecret) else {
                throw ConfigurationError(
                    "\(Setting.facebookAppSecret.declaration.name) is required with \(Setting.facebookAppID.declaration.name)")
            }
            return Facebook(appID: id, appSecret: Secret(secret))
        }
        registration = Registration(rawValue: try settings.value(.registration)) ?? .off
        addresses = ProviderAddresses(emulator: try settings.optional(.identityEndpoint))
    }
}

/// Where the providers are. An identity emulator stands for all of them.
struct ProviderAddresses: Sendable {
    /// The URL of the emulator; `nil` for the real ones.
    let emulator: String?

    private static let graphVersion = "v25.0"

    var googleSignIn: String { base("google", "https://accounts.google.com") + "/o/oauth2/v2/auth" }
    var googleKeys: String { base("google", "https://www.googleapis.com") + "/oauth2/v3/certs" }
    var firebaseKeys: String {
        base("firebase", "https://www.googleapis.com") + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    }
    var facebookSignIn: String { base("facebook", "https://www.facebook.com") + "/\(Self.graphVersion)/dialog/oauth" }
    /// The beginning of the addresses of Facebook's Graph API.
    var facebookGraph: String { base("facebook", "https://graph.facebook.com") + "/\(Self.graphVersion)" }

    private func base(_ provider: String, _ real: String) -> String { emulator.map { "\($0)/\(provider)" } ?? real }
}

extension ProviderSettings {
    /// The ways to sign in, in the order in which a page offers them.
    ///
    /// - Parameter hasUniversity: Whether the university's provider is set up.
    func offered(hasUniversity: Bool) -> [OfferedProvider] {
        var offered: [OfferedProvider] = []
        if hasUniversity {
            offered.append(OfferedProvider(provider: .university, flow: .code, registers: true, needsCode: false))
        }
        if let client = googleClientIDs.first {
            let query = FormEncoding.encode([
                ("client_id", client), ("response_type", "id_token"), ("scope", "openid email"), ("prompt", "select_account"),
            ])
            offered.append(
                OfferedProvider(
                    provider: .google, flow: .fragment, url: "\(addresses.googleSignIn)?\(query)", token: "id_token",
                    registers: true, needsCode: false))
        }
        if firebaseProject != nil {
            offered.append(
                OfferedProvider(
                    provider: .firebase, flow: .fragment, url: firebaseSignInURL, token: "id_token", registers: true,
                    needsCode: false))
        }
        if let facebook {
            let query = FormEncoding.encode([
                ("client_id", facebook.appID), ("response_type", "token"), ("scope", "public_profile"),
            ])
            offered.append(
                OfferedProvider(
                    provider: .facebook, flow: .fragment, url: "\(addresses.facebookSignIn)?\(query)", token: "access_token",
                    registers: true, needsCode: false))
        }
        offered.append(
            OfferedProvider(
                provider: .password, flow: .form, registers: registration != .off, needsCode: registration == .code))
        return offered
    }
}
