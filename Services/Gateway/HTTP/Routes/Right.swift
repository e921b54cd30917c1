/// The right that a route requires of its caller.
///
/// The gateway refuses nothing yet: until there are accounts, every caller has every right.
enum Right: String, CaseIterable, Sendable {
    /// No right is needed, not even an account.
    case anyone
    /// Read the cube and the archive.
    case read
    /// Post, recall and retry messages.
    case send
    /// Change the cube.
    case administer
}
