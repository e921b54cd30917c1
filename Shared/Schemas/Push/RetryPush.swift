/// `push.retry`: sends a failed push to its failed recipients again.
///
/// It fails with `conflict` if the push has not failed or has expired.
///
/// The header's `actor` is required: the push's trace names it in `by`.
package struct RetryPush: Command, Hashable {
    package static let name = "push.retry"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}
