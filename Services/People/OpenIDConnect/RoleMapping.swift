import JSON
import Schemas

/// Which role an account gets from a claim of the provider.
struct RoleMapping: Hashable, Sendable {
    /// The claim's name; with dots for a field of an inner object, such as `realm_access.roles`.
    let claim: String
    /// The claim's values that make a super user.
    let superUsers: Set<String>
    /// The claim's values that make a communicator.
    let communicators: Set<String>

    /// Without values, the provider says only who the person is, and each account has the role that it was added with.
    var isSet: Bool { !superUsers.isEmpty || !communicators.isEmpty }

    /// The highest role of a token's claims.
    func role(in claims: JSONValue) -> Role? {
        let values = claims.values(ofClaim: claim)
        if !values.isDisjoint(with: superUsers) { return .superUser }
        return values.isDisjoint(with: communicators) ? nil : .communicator
    }
}
