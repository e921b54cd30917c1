import DurableFiles

/// What changes with each commit to a database, of this process or another one. Two readings are equal if the database has the same
/// content, except for a commit of another process within the same tick of the file system's clock.
package struct DatabaseRevision: Hashable, Sendable {
    /// The number of this process's commits.
    let commits: Int
    let file: FileStamp?
    let log: FileStamp?
}
