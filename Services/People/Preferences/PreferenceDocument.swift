import Schemas
import Store

/// Which kinds of pushes a person gets, as it is stored.
struct PreferenceDocument: StoredDocument, Hashable {
    /// The account's name in lower case.
    let id: String
    /// By kind. One that is absent is on.
    let pushes: [String: Bool]

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case pushes
    }

    init(_ preferences: PushPreferences, of account: String) {
        id = account
        pushes = preferences.pushes
    }
}

extension PeopleStore {
    static let preferences = Collection<PreferenceDocument>("push_preference", reserve: .changes)
}

extension Transaction {
    /// A person's choices; empty ones if there are none.
    ///
    /// - Parameter account: The name in lower case.
    func pushPreferences(of account: String) throws -> PushPreferences {
        PushPreferences(pushes: try get(account, from: PeopleStore.preferences)?.document.pushes ?? [:])
    }
}

extension PushPreferences {
    /// Whether the person gets pushes of a kind.
    func allows(_ kind: PushKind) -> Bool { pushes[kind.description] ?? true }
}
