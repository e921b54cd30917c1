/// A push to the person, such as that somebody asks for their friendship. It says nothing about who, where or what: the app fetches that
/// from the hub.
public struct PersonPush: Hashable, Sendable {
    /// What has happened, such as `friend_request`.
    public let kind: String
    /// What it is about, such as a request's id. It names no person.
    public let id: String
    /// The place in the app that a tap opens: a fragment, such as `#people/requests`.
    public let link: String

    /// - Parameter data: What FCM brings, or a tap on the pop-up passes to the app.
    /// - Returns: `nil` for the data of another push.
    public init?(data: [String: String]) {
        guard let kind = data["person_kind"], let id = data["person_id"] else { return nil }
        self.kind = kind
        self.id = id
        link = data["link"] ?? ""
    }

    /// The tag of its pop-up, if FCM has brought none.
    var tag: String { "\(kind)-\(id)" }
}
