/// Decides when changed files are loaded: once they have stayed the same from one look to the next, so that a file is not read
/// while it is written, nor a new certificate with an old key. Pure.
struct FileChanges<Content: Hashable & Sendable>: Sendable {
    /// The content that was tried last.
    private var tried: Content
    /// The content at the last look.
    private var seen: Content

    /// - Parameter content: The content that is loaded.
    init(_ content: Content) {
        tried = content
        seen = content
    }

    /// Takes what is in the files now.
    ///
    /// - Returns: Whether to load it.
    mutating func saw(_ content: Content) -> Bool {
        defer { seen = content }
        guard content == seen, content != tried else { return false }
        tried = content
        return true
    }
}
