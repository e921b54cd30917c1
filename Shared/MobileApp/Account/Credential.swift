import Base

extension Account {
    /// What shows the hub who a person is.
    public enum Credential: Hashable, Sendable {
        /// ID tokens of the providers' SDKs. Their `nonce` is absent, or ``Account/thumbprint()``.
        case google(idToken: String)
        case firebase(idToken: String)
        case university(idToken: String)
        /// An access token of Facebook's SDK.
        case facebook(accessToken: String)
        case password(account: String, password: String)

        /// As the body of a request has it.
        func document(code: String?) -> JSONValue {
            var document: JSONValue =
                switch self {
                case .google(let token): ["provider": "google", "id_token": .string(token)]
                case .firebase(let token): ["provider": "firebase", "id_token": .string(token)]
                case .university(let token): ["provider": "university", "id_token": .string(token)]
                case .facebook(let token): ["provider": "facebook", "access_token": .string(token)]
                case .password(let account, let password):
                    ["provider": "password", "account": .string(account), "password": .string(password)]
                }
            document["code"] = code.map { .string($0) }
            return document
        }

        /// What the device signs the hash of.
        var provenText: String {
            switch self {
            case .google(let token), .firebase(let token), .university(let token), .facebook(let token): token
            case .password(let account, _): account.lowercased()
            }
        }
    }

    /// A way to sign in that the hub offers.
    public struct Provider: Hashable, Sendable {
        /// `university`, `google`, `firebase`, `facebook`, `password`, or that of a later version.
        public let name: String
        /// Whether a person without an account can register this way.
        public let registers: Bool
        /// Whether that needs an access code.
        public let needsCode: Bool

        init?(_ document: JSONValue) {
            guard let name = document["provider"]?.string else { return nil }
            self.name = name
            registers = document["registers"] == true
            needsCode = document["needs_code"] == true
        }
    }

    /// A device on which the person is signed in.
    public struct Device: Hashable, Sendable {
        public let id: String
        /// `web`, `android` or `ios`.
        public let platform: String
        /// What the person calls it; `nil` for nothing.
        public let name: String?
        /// When it last asked for a token, in Unix milliseconds, a day late at most.
        public let seen: Int64
        /// Whether it gets pushes.
        public let hasPushes: Bool
        /// Whether it is this device.
        public let isCurrent: Bool

        init?(_ document: JSONValue, current: String?) {
            guard let id = document["id"]?.string, let platform = document["platform"]?.string else { return nil }
            self.id = id
            self.platform = platform
            name = document["name"]?.string
            seen = document["seen"]?.integer ?? 0
            hasPushes = document["push"] != nil
            isCurrent = id == current
        }
    }
}
