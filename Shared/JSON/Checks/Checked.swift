/// A type with rules that the types of its fields cannot express, such as how long a text may be.
///
/// ``JSONCoder/decodeStrictly(_:from:)`` calls the check after it has read an object as this type. ``JSONCoder/decode(_:from:)`` does not: a
/// rule that becomes stricter must not make stored documents unreadable.
package protocol Checked {
    /// - Throws: What is wrong, with the field's path inside this object.
    func check() throws(SchemaViolation)
}

extension SchemaViolation {
    /// What is wrong with one field of the object that is checked.
    package init(_ field: some CodingKey, _ problem: String) {
        self.init(field: field.stringValue, problem: problem)
    }
}

extension ClosedRange {
    /// Checks a number that may have been left out.
    ///
    /// - Throws: A violation that names the field and the range.
    package func check(_ number: Bound?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let number, !contains(number) else { return }
        throw SchemaViolation(field, "expected an integer from \(lowerBound) to \(upperBound), found \(number)")
    }
}
