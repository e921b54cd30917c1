extension UnsafeRawBufferPointer {
    /// The position of the next byte that is not JSON white space, or the end.
    @inlinable
    public func skippingWhiteSpace(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return position
            }
        }
        return position
    }
}
