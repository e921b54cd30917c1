import JSON

/// The role of an account. It decides which rights the account has.
package enum Role: String, ClosedEnum {
    /// Has every right, and may send to every subject.
    case superUser = "super_user"
    /// Reads and sends, where the access lists of the cube allow it.
    case communicator

    package var rights: Set<AccountRight> {
        switch self {
        case .superUser: Set(AccountRight.allCases)
        case .communicator: [.read, .send]
        }
    }
}
