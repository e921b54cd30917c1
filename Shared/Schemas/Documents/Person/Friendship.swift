package import Base

/// The answer of `GET /user/friends`: the ids of a person's friends, which are the names of their accounts.
package struct FriendList: Codable, Hashable, Sendable {
    package let friends: [AccountName]

    package init(friends: [AccountName]) {
        self.friends = friends
    }
}

/// The requests that nobody has answered.
package struct FriendRequests: Codable, Hashable, Sendable {
    package struct Request: Codable, Hashable, Sendable {
        package let account: AccountName
        package let at: UnixMilliseconds

        package init(account: AccountName, at: UnixMilliseconds) {
            self.account = account
            self.at = at
        }
    }

    /// Those of others, the newest first.
    package let received: [Request]
    /// The person's own.
    package let asked: [Request]

    package init(received: [Request], asked: [Request]) {
        self.received = received
        self.asked = asked
    }
}

/// What came of a request: the two are friends, or it waits for an answer.
package struct FriendState: Codable, Hashable, Sendable {
    package enum State: String, ClosedEnum {
        case asked, friends
    }

    package let account: AccountName
    package let state: State

    package init(account: AccountName, state: State) {
        self.account = account
        self.state = state
    }
}

/// Which kinds of pushes a person gets. A kind that is absent is on.
package struct PushPreferences: Codable, Checked, Hashable, Sendable {
    /// `{"friend_request":false}`
    package let pushes: [String: Bool]

    package init(pushes: [String: Bool]) {
        self.pushes = pushes
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case pushes
    }

    private static let maxKinds = 50

    package func check() throws(SchemaViolation) {
        guard pushes.count <= Self.maxKinds, pushes.keys.allSatisfy({ PushKind($0) != nil }) else {
            throw SchemaViolation(CodingKeys.pushes, "expected at most \(Self.maxKinds) kinds: \(PushKind.expected)")
        }
    }
}
