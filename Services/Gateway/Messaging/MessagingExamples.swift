package import Base
package import Schemas

// The documents of messages, statuses and pictures in the API's document.

extension ObjectID {
    fileprivate static var exampleUpload: ObjectID { TopicKey.exampleTopic.area }
    fileprivate static var exampleObject: ObjectID { TopicKey.exampleTopic.subject }
}

extension AccountName {
    fileprivate static var exampleFriend: AccountName {
        guard let name = AccountName("bob") else { preconditionFailure("bob is an account's name") }
        return name
    }
}

extension String {
    fileprivate static let exampleMessage = "Are you coming at three?"
}

extension JSONValue {
    /// The rule about the two fields of which a document has one.
    fileprivate static let eitherTextOrPicture: JSONValue = [
        "description": "It has either a `text` or a `picture`.",
        "if": ["required": ["text"]], "then": ["not": ["required": ["picture"]]], "else": ["required": ["picture"]],
    ]
}

// MARK: Messages

extension DirectMessageDraft: HasExample {
    package static var example: DirectMessageDraft { DirectMessageDraft(to: .exampleFriend, text: .exampleMessage) }
}

extension DirectMessageDraft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue { .eitherTextOrPicture }
}

extension DirectMessage: HasExample {
    package static var example: DirectMessage {
        DirectMessage(
            id: .exampleObject, from: .exampleAccount, to: .exampleFriend, number: 1_795_262_462_399, at: .exampleTime,
            text: .exampleMessage, picture: nil)
    }
}

extension Conversation: HasExample {
    package static var example: Conversation {
        Conversation(
            account: .exampleFriend, last: 1_795_262_462_399, unread: 0, seen: nil, removed: nil, delivered: 1_795_262_462_399,
            read: nil, expired: nil)
    }
}

extension MessageNews: HasExample {
    package static var example: MessageNews {
        MessageNews(
            messages: [.example], conversations: [.example], after: 1_795_262_462_401, more: false,
            now: UnixMilliseconds.exampleTime + .seconds(2))
    }
}

extension ConversationPage: HasExample {
    package static var example: ConversationPage {
        ConversationPage(messages: [.example], conversation: .example, next: nil, now: UnixMilliseconds.exampleTime + .seconds(2))
    }
}

extension MessagesReceived: HasExample {
    static var example: MessagesReceived { MessagesReceived(after: 1_795_262_462_401) }
}

extension MessagingRules: HasExample {
    package static var example: MessagingRules {
        MessagingRules(
            days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil,
            pictures: 10 << 30)
    }
}

extension MessagingChoices: HasExample {
    package static var example: MessagingChoices { MessagingChoices(readMarks: true) }
}

// MARK: Statuses and pictures

extension StatusDraft: HasExample {
    package static var example: StatusDraft { StatusDraft(text: "In the library until six") }
}

extension StatusDraft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue { .eitherTextOrPicture }
}

extension OwnStatus: HasExample {
    package static var example: OwnStatus {
        OwnStatus(
            id: .exampleObject, text: "In the library until six", picture: nil, at: .exampleTime,
            expires: UnixMilliseconds.exampleTime + MessagingLimits.statusTime, seen: 3)
    }
}

extension PersonStatus: HasExample {
    package static var example: PersonStatus {
        PersonStatus(
            id: .exampleObject, account: .exampleFriend, text: nil, picture: .example, at: .exampleTime,
            expires: UnixMilliseconds.exampleTime + MessagingLimits.statusTime, seen: false)
    }
}

extension StatusList: HasExample {
    package static var example: StatusList {
        StatusList(statuses: [.example], own: .example, now: UnixMilliseconds.exampleTime + .seconds(2))
    }
}

extension PictureInfo: HasExample {
    package static var example: PictureInfo { PictureInfo(type: .jpeg, width: 1_600, height: 1_200, bytes: 218_331) }
}

extension UploadedPicture: HasExample {
    package static var example: UploadedPicture {
        UploadedPicture(
            id: .exampleUpload, picture: .example, expires: UnixMilliseconds.exampleTime + MessagingLimits.uploadTime)
    }
}

extension PublishedPicture: HasExample {
    static var example: PublishedPicture {
        PublishedPicture(
            url: "https://hub.example.edu/pictures/\(ObjectID.exampleUpload).jpg", picture: .example,
            expires: UnixMilliseconds.exampleTime + .seconds(365 * 86_400))
    }
}

// MARK: Reports, and what the operator sees

extension ReportDraft: HasExample {
    package static var example: ReportDraft {
        ReportDraft(message: .exampleObject, account: .exampleFriend, text: "Pay me, or else", reason: "A threat")
    }
}

extension ReportDraft: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue { .eitherTextOrPicture }
}

extension MessageReport: HasExample {
    package static var example: MessageReport {
        MessageReport(
            id: .exampleUpload, at: UnixMilliseconds.exampleTime + .seconds(60), reporter: .exampleAccount,
            account: .exampleFriend, verdict: .genuine, closed: nil, closedBy: nil)
    }
}

extension ReportedMessage: HasExample {
    package static var example: ReportedMessage {
        ReportedMessage(
            report: .example, message: .exampleObject, sent: .exampleTime, text: "Pay me, or else", picture: nil,
            reason: "A threat")
    }
}

extension CountMessaging.Reply: HasExample {
    package static var example: CountMessaging.Reply {
        CountMessaging.Reply(
            messages: 1_204, reports: 2, pictures: 913_442_816, pictureLimit: 10 << 30, month: "2026-11",
            calls: ["sendMessage": 40_211, "getMessage": 812_004, "sendStatus": 905, "getStatus": 402_118, "others": 511_730],
            callLimit: 2_000_000, due: nil, now: .exampleTime)
    }
}

extension StorageReport: HasExample {
    static var example: StorageReport {
        let store = StoreUsage(name: "messaging", bytes: 52_428_800, limit: 4_294_967_296, free: 81_604_378_624, percent: 1)
        return StorageReport(stores: [store], away: [])
    }
}
