import Schemas

/// How messages change their conversation. Pure: who calls it stores the document.
///
/// A message is *accepted* once it is stored, *delivered* once its number is at most the recipient's ``Side/delivered``, and
/// *read* once it is at most ``Side/read``, which implies delivered. It is removed after that. One that has waited for too long
/// is *expired*: its number is at most ``Side/expired``.
extension ConversationDocument {
    /// The side of one of the two persons.
    ///
    /// - Parameter account: In lower case.
    subscript(account: String) -> Side {
        get { first.account == account ? first : second }
        set {
            if first.account == account { first = newValue } else { second = newValue }
        }
    }

    /// The side of the other person.
    ///
    /// - Parameter account: In lower case.
    func other(of account: String) -> Side { first.account == account ? second : first }

    /// A new message from one of the two. Its number is ``last`` then, and its place among the sender's messages ``Side/sent``.
    mutating func add(from sender: AccountName, to recipient: AccountName, areClassmates: Bool, at now: UnixMilliseconds) {
        last = max(last + 1, now.rawValue)
        classmates = areClassmates ? true : nil
        self[sender.key].name = sender
        self[sender.key].sent += 1
        self[recipient.key].name = recipient
    }

    /// A device of a person has the messages of the other one up to a number.
    mutating func deliver(upTo number: Int64, to account: String) {
        self[account].delivered = max(self[account].delivered, number)
    }

    /// A person has read a message of the other one, and all before it.
    ///
    /// - Parameter count: Its place among the messages of the other one.
    mutating func read(upTo number: Int64, count: Int, by account: String) {
        deliver(upTo: number, to: account)
        self[account].read = max(self[account].read, number)
        self[account].readCount = max(self[account].readCount, count)
    }

    /// The service is to look at once which messages can be removed.
    mutating func look(at now: UnixMilliseconds) { due = min(due ?? now, now) }

    /// The conversation as one of the two sees it.
    ///
    /// - Parameters:
    ///   - account: In lower case.
    ///   - readMarks: Whether the person is told what the other one has read.
    func view(for account: String, readMarks: Bool) -> Conversation {
        let (own, other) = (self[account], self.other(of: account))
        return Conversation(
            account: other.name, last: last, unread: max(0, other.sent - own.readCount), seen: Self.mark(own.read),
            removed: Self.mark(own.removed), delivered: Self.mark(other.delivered),
            read: readMarks ? Self.mark(other.read) : nil, expired: Self.mark(other.expired))
    }

    private static func mark(_ number: Int64) -> Int64? { number > 0 ? number : nil }
}

extension Conversation {
    /// That of two persons who have not written to each other yet.
    init(with account: AccountName) {
        self.init(
            account: account, last: 0, unread: 0, seen: nil, removed: nil, delivered: nil, read: nil, expired: nil)
    }
}

extension DirectMessageDocument {
    /// The message as both see it.
    var view: DirectMessage {
        DirectMessage(id: id, from: fromName, to: toName, number: number, at: at, text: text, picture: picture?.info)
    }
}
