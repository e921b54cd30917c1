/// What a caller must be allowed to do before a route serves it.
///
/// The gateway refuses nothing yet: until there are accounts, every caller has every right.
enum Right: String, CaseIterable, Sendable {
    /// No right is needed, not even an account.
    case anyone
    /// Look at the cube and at the archive.
    case read
    /// Post messages, recall them and have them tried again.
    case send
    /// Change the cube.
    case administer
}
