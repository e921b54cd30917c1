import JSON

extension JSONValue {
    /// The texts of a claim, which is a text or a list of texts.
    ///
    /// - Parameter claim: The claim's name; with dots for a field of an inner object.
    func values(ofClaim claim: String) -> Set<String> {
        var value: JSONValue? = self
        // A name with dots, such as a URL, may also be one claim.
        if let whole = self[claim] {
            value = whole
        } else {
            for part in claim.split(separator: ".") { value = value?[String(part)] }
        }
        return Set((value?.elements ?? [value].compactMap { $0 }).compactMap(\.string))
    }
}
