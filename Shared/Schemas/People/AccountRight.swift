import JSON

/// A right of an account or of a token.
package enum AccountRight: String, ClosedEnum {
    /// Read the archive, as far as the access lists of the cube allow it.
    case read
    /// Post, recall and retry messages, where the access lists of the cube allow it.
    case send
    /// Change the cube, its access lists, accounts and other accounts' tokens.
    case administer
}
