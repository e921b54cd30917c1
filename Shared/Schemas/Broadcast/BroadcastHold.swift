/// How `msi restore` marks the stored broadcasts that would still be pushed. They may have been pushed, edited or withdrawn after the backup
/// was made, so the outbox holds their pushes until the operator releases one.
package enum BroadcastHold {
    /// The collection of the broadcast service.
    package static let collection = "broadcast"
    /// The field with the time of the next push.
    package static let plannedField = "next_push"
    /// The field with the time of the restore.
    package static let field = "restored"
}
