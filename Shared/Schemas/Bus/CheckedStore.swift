/// A store whose state is part of the health of its service.
package protocol CheckedStore: Sendable {
    /// Reads a small value. Throws if the database cannot be read.
    func check() async throws

    /// Whether writes come to an end; otherwise `deadline_exceeded`, with the name of the file and since when they hang. The
    /// database is not asked, so a frozen disk does not delay the answer.
    var writerHealth: PartHealth { get }
}
