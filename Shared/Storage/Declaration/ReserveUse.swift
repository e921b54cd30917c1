/// Which writes of a collection may use the reserve of the disk. Deletions, and changes that make no document larger, always may.
///
/// Only SQLite keeps a reserve. MongoDB stores everything until its disk is full.
package enum ReserveUse: Sendable {
    case nothing
    /// Changes of documents, but no new ones.
    case changes
    case everything
}
