/// `push.recall`: recalls a push that has not gone out to any recipient. It stays stored, as recalled.
///
/// It fails with `conflict` if the push is being relayed or has ended, or if FCM has accepted it for a recipient.
///
/// The header's `actor` is required: the push's trace names it in `by`.
package struct RecallPush: Command, Hashable {
    package static let name = "push.recall"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}
