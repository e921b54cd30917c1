import JSON

/// `relay.withdraw`: answers the commands for a message or a push whose sends wait for their turn, because of FCM's quota, with the
/// retryable error of a send that waits too long. What is on its way to FCM continues.
///
/// A message log that is asked to recall the message asks every relay.
package struct WithdrawSends: Command, Hashable {
    package static let name = "relay.withdraw"

    package struct Reply: Codable, Hashable, Sendable {
        /// The number of commands.
        package let withdrawn: Int

        package init(withdrawn: Int) {
            self.withdrawn = withdrawn
        }
    }

    /// The `msi_key` of a message, or the `push_id` of a push.
    package let key: ObjectID

    package init(_ key: ObjectID) {
        self.key = key
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case key
    }
}
