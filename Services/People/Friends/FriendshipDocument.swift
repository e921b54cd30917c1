import Schemas
import Store

/// One side of what two persons are to each other, as it is stored. Both sides change in one transaction.
struct FriendshipDocument: StoredDocument, Hashable {
    let id: ObjectID
    /// The person whose side it is, by the account's name in lower case.
    let owner: String
    /// The other person.
    let other: String
    private(set) var state: Friendship.State
    /// When it got this state.
    private(set) var at: UnixMilliseconds
    /// When a declined request is forgotten; `nil` in every other state.
    private(set) var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case owner, other, state, at, expires
    }

    init(of owner: String, with other: String, _ state: Friendship.State, at now: UnixMilliseconds) {
        id = ObjectID()
        self.owner = owner
        self.other = other
        self.state = state
        at = now
        become(state, at: now)
    }

    mutating func become(_ new: Friendship.State, at now: UnixMilliseconds) {
        (state, at) = (new, now)
        expires = new == .declined ? now + PersonLimits.declinedTime : nil
    }
}

extension PeopleStore {
    static let friendshipOwner = Field("owner", \FriendshipDocument.owner)
    static let friendshipOther = Field("other", \FriendshipDocument.other)
    static let friendshipState = Field("state", \FriendshipDocument.state)
    static let friendshipEnd = Field("expires", \FriendshipDocument.expires)

    static let friendships = Collection<FriendshipDocument>(
        "friendship",
        indexes: [
            .unique(friendshipOwner, friendshipOther), .on(friendshipOwner, friendshipState, friendshipOther),
            .on(friendshipOther), .expiring(friendshipEnd),
        ], reserve: .changes)
}
