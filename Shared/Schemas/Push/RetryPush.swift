/// `push.retry`: hands the failed recipients of a failed push to FCM once more.
///
/// A `conflict` for a push that has not failed, or that has expired meanwhile.
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
