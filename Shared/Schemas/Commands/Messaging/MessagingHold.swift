/// How `msi restore` marks what would come alive again with a backup. The messaging service looks at its next start at the
/// marked conversations, and removes again which messages it had removed since: it has a log of that beside the database. A
/// status of a backup does not come back: it may have been taken back. Pushes that waited in the backup go nowhere.
package enum MessagingHold {
    /// The collection of the conversations, and a field that each has.
    package static let conversations = "conversation"
    package static let conversationField = "last"
    /// The collection of the statuses, and a field that each has.
    package static let statuses = "person_status"
    package static let statusField = "expires"
    /// The collection of the pushes that the message log has not stored yet, and a field that each has.
    package static let pushes = "messaging_push"
    package static let plannedField = "at"
    /// The field with the time of the restore, of all three.
    package static let field = "restored"
}
