import HTTPTypes

extension HTTPFields {
    /// The value of a field, as the subscript returns it. Nearly always there is one field or none, and the subscript joins a list in any
    /// case.
    func value(of name: HTTPField.Name) -> String? {
        guard contains(name), let first = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(first + 1)...].contains { $0.name == name } ? self[name] : self[first].value
    }
}

extension String {
    /// Whether it has the bytes of an ASCII text.
    func hasBytes(of text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        var copy = self
        return copy.withUTF8 { bytes in
            guard bytes.count >= length else { return false }
            let wanted = UnsafeBufferPointer(start: text.utf8Start, count: length)
            return (0...bytes.count - length).contains { bytes[$0..<$0 + length].elementsEqual(wanted) }
        }
    }
}
