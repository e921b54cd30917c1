/// Who makes a change, and from where.
package struct AuditAuthor: Hashable, Sendable {
    /// The account's name; `nil` if a program makes the change for itself.
    package let actor: String?
    /// The network address of the account's client, if it is known.
    package let address: String?

    package init(actor: String?, address: String? = nil) {
        self.actor = actor
        self.address = address
    }

    /// A program that makes a change for itself.
    package static let program = AuditAuthor(actor: nil)
}
