import Base
import Schemas
import Store

extension PushKind {
    /// The kinds of pushes about a friendship.
    fileprivate static let aboutFriends = [friendRequest, friendAccepted]

    /// The idempotency key of the push of this kind about one side of a friendship, which gets at most one.
    fileprivate func key(about side: ObjectID) -> String { "\(side)-\(self)" }
}

extension PeopleChange {
    /// How long the person may be away. After that the app shows it when it is opened.
    private static let lifetime = Milliseconds.seconds(7 * 86_400)

    /// Queues the push that tells the owner of one side of a friendship about it.
    ///
    /// - Parameter device: One that does not get it.
    func queue(
        _ notice: Friendship.Notice, about side: FriendshipDocument, to account: AccountDocument, except device: ObjectID?
    ) throws {
        let kind = notice.kind
        let push = try LogPush(
            idempotencyKey: kind.key(about: side.id), accounts: [account.name], kind: kind, except: device,
            fairnessKey: "friends", message: PersonPush(id: "\(side.id)", link: notice.link, texts: notice.texts),
            expires: now + Self.lifetime)
        try queue(push, for: account.name)
    }
}

extension Transaction {
    /// Removes the pushes about friendships that still wait in the queue.
    ///
    /// - Parameter sides: Of the persons who would get them.
    func unqueuePushes(about sides: [ObjectID]) throws {
        let keys = sides.flatMap { side in PushKind.aboutFriends.map { $0.key(about: side) } }
        try delete(keys, from: PeopleStore.queuedPushes)
    }
}

extension Friendship.Notice {
    fileprivate var kind: PushKind {
        switch self {
        case .asked: .friendRequest
        case .accepted: .friendAccepted
        }
    }

    /// The place in the app.
    fileprivate var link: String {
        switch self {
        case .asked: "#people/requests"
        case .accepted: "#people/friends"
        }
    }

    /// A sentence that names nobody, in the languages of the app.
    fileprivate var texts: [String: String] {
        switch self {
        case .asked: ["en": "You have a friend request", "ar": "لديك طلب صداقة"]
        case .accepted: ["en": "Your friend request was accepted", "ar": "قُبل طلب الصداقة الذي أرسلته"]
        }
    }
}
