import JSON

/// The state of an account's second factor: one-time codes of an authenticator app (TOTP, RFC 6238).
package enum SecondFactor: String, ClosedEnum {
    /// Not set up, and not required.
    case none
    /// Signing in asks for a code.
    case set
    /// Set up, but this sign-in at the OpenID Connect provider has not shown a code yet: it may do nothing else.
    case pending
    /// Not set up, but required: a sign-in may only set it up.
    case required
}
