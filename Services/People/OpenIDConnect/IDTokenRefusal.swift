/// Why a token of a provider is refused. The cases are few, so they can be logged; none contains anything of the token.
enum IDTokenRefusal: String, Error, CaseIterable {
    /// It is not of the form `header.claims.signature`, or these are no JSON.
    case form
    /// Its header names a key, a place of keys, or something that must be understood.
    case header
    case algorithm
    /// It is a token for something else, such as an access token or a sign-out.
    case kind
    /// Its provider has no such key, or has withdrawn it.
    case key
    case signature
    case subject
    case issuer
    case audience
    /// Another client has got it.
    case party
    case expired
    /// It is valid for more than a day.
    case lifetime
    /// It was issued in the future, or too long ago.
    case issued
    case early
    case nonce
    case confirmation
    /// Its person is of another organisation.
    case domain
    case email
    case anonymous
    case tenant
    /// The provider itself calls it invalid.
    case invalid
    /// Another device has used it.
    case replayed

    /// The end of a sentence that begins with the token.
    var reason: String {
        switch self {
        case .form: "it is no token"
        case .header: "its header has a field that is not allowed"
        case .algorithm: "its algorithm is not allowed"
        case .kind: "it is a token of another kind"
        case .key: "its key is unknown"
        case .signature: "its signature is wrong"
        case .subject: "it has no sub"
        case .issuer: "its issuer is another one"
        case .audience: "it is for another client"
        case .party: "it was issued to another client"
        case .expired: "it has expired"
        case .lifetime: "it is valid for more than a day"
        case .issued: "it was not issued just now; the clocks may differ"
        case .early: "it is not valid yet"
        case .nonce: "its nonce is of another sign-in"
        case .confirmation: "the provider has not asked for the password again"
        case .domain: "its person is of another organisation"
        case .email: "its email address is not verified"
        case .anonymous: "its person has signed in anonymously"
        case .tenant: "its person is of a tenant"
        case .invalid: "the provider says that it is not valid"
        case .replayed: "the token was used by another device"
        }
    }
}
