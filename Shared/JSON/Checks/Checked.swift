/// A type with rules that the types of its fields cannot express, such as the length of a text.
///
/// ``JSONCoder/decodeStrictly(_:from:)`` calls the check after it has read an object as this type. ``JSONCoder/decode(_:from:)``
/// does not: a rule that becomes stricter must not make stored documents unreadable.
package protocol Checked {
    /// - Throws: The violation, with the field's path inside this object.
    func check() throws(SchemaViolation)
}

extension SchemaViolation {
    /// A violation of one field of the checked object.
    package init(_ field: some CodingKey, _ problem: String) {
        self.init(field: field.stringValue, problem: problem)
    }
}

extension ClosedRange {
    /// Checks an optional number.
    ///
    /// - Throws: A violation that names the field and the range.
    @inlinable
    public func check(_ number: Bound?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let number, !contains(number) else { return }
        throw violation(number, field)
    }

    @usableFromInline
    func violation(_ number: Bound, _ field: some CodingKey) -> SchemaViolation {
        SchemaViolation(field, "expected an integer from \(lowerBound) to \(upperBound), found \(number)")
    }
}
