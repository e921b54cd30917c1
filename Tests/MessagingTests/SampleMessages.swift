import Schemas

@testable import Messaging

extension DirectMessageDocument {
    /// Messages that follow another one: more than the service takes from a person in a minute.
    ///
    /// - Parameters:
    ///   - last: The message before them, of the same two persons.
    ///   - place: Its ``count``.
    ///   - position: The greatest one that the two have.
    static func many(
        _ count: Int, from sender: AccountName, to recipient: AccountName, behind last: DirectMessage, place: Int = 1,
        position: Int64
    ) -> [DirectMessageDocument] {
        (1...count).map { index -> DirectMessageDocument in
            let next = Int64(index)
            return DirectMessageDocument(
                id: ObjectID(), conversation: ConversationDocument.id(of: sender.key, and: recipient.key),
                number: last.number + next, count: place + index, to: recipient.key, toName: recipient, from: sender.key,
                fromName: sender, toPosition: position + next, fromPosition: position + next, text: "\(index)", picture: nil,
                at: last.at, classmate: nil)
        }
    }
}
