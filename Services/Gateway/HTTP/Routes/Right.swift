/// The right that a route requires of its caller. ``Route`` refuses callers without it.
enum Right: String, CaseIterable, Sendable {
    /// No right is needed, and the gateway does not look at the credential: each request counts as anonymous, for the limits as
    /// well.
    case anonymous
    /// No right is needed, not even an account.
    case anyone
    /// Be signed in, or have a bearer token. A required second factor may still be missing.
    case partlySignedIn
    /// Be signed in, with the second factor if it is required, or have a bearer token.
    case signedIn
    /// Read the archive.
    case read
    /// Post, recall and retry messages, where the access lists of the cube allow it.
    case send
    /// Change the cube, its access lists and accounts. With a token that is restricted to a part of the cube: change that part.
    case administer

    /// Whether the caller needs a credential.
    var requiresCredential: Bool { self != .anonymous && self != .anyone }
}
