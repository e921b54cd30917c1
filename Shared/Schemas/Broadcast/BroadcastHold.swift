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

/// The stored numbers of broadcasts that `msi restore` raises. Phones know those that were given after the backup was made, and take only
/// higher ones.
package enum BroadcastNumbers {
    /// The field of a stored broadcast with the broadcast, and the field in it.
    package static let broadcast = "broadcast"
    package static let version = "version"
    /// The collection with the one document that counts the changes, and its id.
    package static let counter = "broadcast_changes"
    package static let counterID = "changes"
    /// Its fields: the number of changes, and the least id that the service may give.
    package static let count = "count"
    package static let nextID = "next_id"
}
