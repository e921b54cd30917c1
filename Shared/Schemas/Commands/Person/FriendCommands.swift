import Base

// The commands of a person about friends. The header's `actor` is required: it is the account. Another person is `not_found` where
// ``ViewPerson`` does not find them.

/// `friend.list`: the person's friends, in the order of their names.
package struct ListFriends: Command {
    package static let name = "friend.list"
    package typealias Reply = FriendList

    package init() {}
}

/// `friend.requests`: what nobody has answered.
package struct ListFriendRequests: Command {
    package static let name = "friend.requests"
    package typealias Reply = FriendRequests

    package init() {}
}

/// `friend.ask`: asks for another's friendship. If the other has asked before, the two are friends. Repeated, it changes nothing.
///
/// `conflict` if the caller has too many unanswered requests or friends.
package struct AskFriend: Command {
    package static let name = "friend.ask"
    package typealias Reply = FriendState

    package let account: AccountName
    /// The caller's device, which gets no push.
    package let device: ObjectID

    package init(_ account: AccountName, from device: ObjectID) {
        self.account = account
        self.device = device
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, device
    }
}

/// `friend.answer`: accepts or declines a request. The one who has asked is not told of a decline. `not_found` if there is no request.
package struct AnswerFriend: Command {
    package static let name = "friend.answer"
    package typealias Reply = Done

    package let account: AccountName
    package let accept: Bool

    package init(_ account: AccountName, accept: Bool) {
        self.account = account
        self.accept = accept
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, accept
    }
}

/// `friend.remove`: ends a friendship, or takes back a request. Repeated, it changes nothing.
package struct RemoveFriend: Command {
    package static let name = "friend.remove"
    package typealias Reply = Done

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `friend.block`: neither of the two finds the other from now on, and what they were to each other has ended. `"blocked":false` takes it
/// back, without making them friends again. Repeated, it changes nothing.
package struct BlockPerson: Command {
    package static let name = "friend.block"
    package typealias Reply = Done

    package let account: AccountName
    package let blocked: Bool

    package init(_ account: AccountName, blocked: Bool) {
        self.account = account
        self.blocked = blocked
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, blocked
    }
}

/// `friend.blocked`: whom the person has blocked.
package struct ListBlocked: Command {
    package static let name = "friend.blocked"

    package struct Reply: Codable, Hashable, Sendable {
        package let blocked: [AccountName]

        package init(blocked: [AccountName]) {
            self.blocked = blocked
        }
    }

    package init() {}
}
