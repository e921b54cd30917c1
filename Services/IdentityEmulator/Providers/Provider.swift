import Base
import ServiceKit

/// A provider that the emulator stands for. Its paths begin with its name, and continue as the real ones do.
enum Provider: String, ClosedEnum {
    case google, firebase, facebook

    /// As people write it.
    var title: String {
        switch self {
        case .google: "Google"
        case .firebase: "Firebase"
        case .facebook: "Facebook"
        }
    }

    /// The path of the page at which a person signs in.
    var signInPath: String {
        switch self {
        case .google: "google/o/oauth2/v2/auth"
        case .firebase: "firebase/sign-in"
        case .facebook: "facebook/\(Self.graphVersion)/dialog/oauth"
        }
    }

    /// The version of Facebook's Graph API in its paths.
    static let graphVersion = "v25.0"

    /// For whom its tokens are, unless a test wants another audience.
    var audience: String {
        switch self {
        case .google: IdentityEmulatorAccess.clientID
        case .firebase: IdentityEmulatorAccess.project
        case .facebook: IdentityEmulatorAccess.appID
        }
    }
}
