/// `push.recall`: takes back a push that has not gone out to any recipient yet. It stays, as recalled.
///
/// A `conflict` for a push that is on its way to FCM this moment, that a recipient has got, or whose end has come.
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
