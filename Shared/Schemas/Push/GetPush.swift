/// `push.get`: one push, with the outcome for each recipient.
package struct GetPush: Command, Hashable {
    package static let name = "push.get"
    package typealias Reply = Push

    package let pushID: ObjectID

    package init(pushID: ObjectID) {
        self.pushID = pushID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushID = "push_id"
    }
}
