import Schemas

/// How large the cube may become (``CubeSize``).
package struct CubeSizeLimit: Hashable, Sendable {
    package let bytes: Int64

    package init(bytes: Int64) {
        self.bytes = bytes
    }

    /// Refuses a change that makes the cube larger, and too large. One that makes it smaller is always allowed, also where it is
    /// still too large afterwards.
    ///
    /// - Parameters:
    ///   - size: The size before the change.
    ///   - growth: How much the change adds; negative where it makes the cube smaller.
    /// - Throws: ``CommandFailure`` with status `storage_full`.
    func check(size: Int64, growth: Int64) throws(CommandFailure) {
        guard growth > 0, size + growth > bytes else { return }
        throw CommandFailure(
            .storageFull,
            "the information cube would have \(size + growth) bytes, and may have \(bytes) (MSI_CUBE_SIZE_LIMIT); delete or shorten "
                + "something in it, or raise the limit; nothing was changed")
    }
}
