import Schemas

/// The maximum size of the cube (``CubeSize``).
package struct CubeSizeLimit: Hashable, Sendable {
    package let bytes: Int64

    package init(bytes: Int64) {
        self.bytes = bytes
    }

    /// Refuses a change that makes the cube larger than the limit. A change that makes it smaller is always allowed, even if the
    /// cube is still too large afterwards.
    ///
    /// - Parameters:
    ///   - size: The size before the change.
    ///   - growth: The change's growth; negative if it makes the cube smaller.
    /// - Throws: ``CommandFailure`` with status `storage_full`.
    func check(size: Int64, growth: Int64) throws(CommandFailure) {
        guard growth > 0, size + growth > bytes else { return }
        throw CommandFailure(
            .storageFull,
            "the information cube would have \(size + growth) bytes, and may have \(bytes) (MSI_CUBE_SIZE_LIMIT); delete or shorten "
                + "something in it, or raise the limit; nothing was changed")
    }
}
