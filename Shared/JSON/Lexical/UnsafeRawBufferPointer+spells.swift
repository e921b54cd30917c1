public import Glibc

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of an ASCII literal.
    @inlinable
    public func spells(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, literal.utf8Start, count) == 0
    }
}
