import JSON

/// Which claim of the provider says that it has checked a second factor.
struct SecondFactorClaim: Hashable, Sendable {
    /// The claim's name; with dots for a field of an inner object.
    let claim: String
    /// The claim's values that replace a second factor here; empty if none does.
    let values: Set<String>

    func isShown(by claims: JSONValue) -> Bool {
        !values.isDisjoint(with: claims.values(ofClaim: claim))
    }
}
