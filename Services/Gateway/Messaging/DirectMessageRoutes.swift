import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas
import ServiceKit

/// Messages from one person to another.
struct DirectMessageRoutes: Feature {
    let messaging: CommandClient
    /// Knows who is in which class.
    let study: CommandClient
    /// Whether classmates may write to each other, or friends alone.
    let classmates: LiveSetting<Bool>

    private static let all = "/user/messages"
    private static let one = all + "/:id"
    private static let choices = "/user/messaging"

    var section: APISection {
        APISection(
            "Messages between persons",
            "Friends write to each other. A message is a text or a picture. It is removed once the recipient has read it and "
                + "each of the recipient's active devices has it, so a device keeps its own copy. Messages are not end-to-end "
                + "encrypted: the hub's operator could read what waits. There are no groups, no voice and no files. A person to "
                + "whom the caller may not write is 404, as one that does not exist.")
    }

    var routes: [Route] {
        [sending, sending.bySeed, news, news.bySeed, received] + conversationRoutes + choiceRoutes
    }

    private var sending: Route {
        Route(
            .post, Self.all, right: .person, body: DirectMessageDraft.self, answer: .created(DirectMessage.self), send
        ).documented(
            "Send a message to a friend",
            "A text of at most \(MessagingLimits.text.max) characters, or the id of a picture of `POST /user/pictures`. 404 with "
                + "the `field` `to` for a person who is no friend (or, if the operator allows that, no classmate), and `picture` "
                + "for one that the caller has not uploaded. 409 with the `field` `to` if too many messages wait for the person. "
                + "429 after too many within a minute. A retry after the recipient has read the message has `removed` in place "
                + "of the text.",
            headers: [.idempotencyKey], problems: [.notFound, .conflict], operation: "sendMessage")
    }

    private var news: Route {
        Route(.get, Self.all, right: .person, query: MessageNewsQuery.self, answer: .ok(MessageNews.self), read).documented(
            "Fetch new messages",
            "What is new since the position `after`, of both directions and the oldest first, with the conversations that have "
                + "changed. Store it together with the `after` of the answer, and ask again while it has `more`. `prompt` is the "
                + "`id` of the event or of the push that the device follows; without one, it is a poll: if it finds nothing and "
                + "the last one of the device was a moment ago, it is 429.",
            operation: "getMessage")
    }

    private var received: Route {
        Route(.put, Self.all + "/received", right: .person, body: MessagesReceived.self, answer: .noContent) { call in
            let command = ConfirmMessages(on: call.principal.device, after: try await call.body().after)
            _ = try await messaging.request(command, for: call)
            return Answer()
        }.documented(
            "Confirm what the device has stored",
            "Everything up to the position `after`, with the bytes of the pictures. The senders then see that it was delivered. "
                + "The hub does not give it to this device again. Repeated, it changes nothing.")
    }

    private var conversationRoutes: [Route] {
        [
            Route(.put, Self.one + "/read", right: .person, answer: .noContent) { call in
                _ = try await messaging.request(MarkMessagesRead(upTo: call.identifier("id")), for: call)
                return Answer()
            }.documented(
                "Mark a message as read",
                "And all earlier ones of the same person. Repeated, it changes nothing. Nothing changes either for a message "
                    + "that the hub does not have, or that is not for the caller."),
            Route(.get, Self.one + "/picture", right: .person, answer: .picture) { call in
                try await messaging.picture(of: .message, call.identifier("id"), for: call)
            }.documented(
                "Read the picture of a message", "For its sender and its recipient, until it is removed.",
                also: AnswerForm.otherPictures),
            Route(
                .get, "/user/conversations/:account", right: .person, query: ConversationQuery.self,
                answer: .ok(ConversationPage.self), conversation
            ).documented(
                "Read a conversation",
                "The messages with a person that the hub still has, the newest first, and how far both are.",
                path: ["account": AccountName.self], answerHeaders: [.nextPage]),
        ]
    }

    private var choiceRoutes: [Route] {
        [
            Route(.get, Self.choices, right: .person, answer: .ok(MessagingInformation.self)) { call in
                let reply = try await messaging.request(ReadMessaging(), for: call)
                return Answer(
                    MessagingInformation(rules: reply.rules, choices: reply.choices, classmates: classmates.value))
            }.documented(
                "Read the limits of messages and one's choices",
                "`classmates` is true if classmates may write to each other, and not friends alone."),
            Route(
                .put, Self.choices, right: .person, body: MessagingChoices.self, answer: .ok(MessagingChoices.self)
            ) { call in
                Answer(try await messaging.request(ChooseMessaging(try await call.body()), for: call))
            }.documented(
                "Choose who learns what one has read",
                "With `\"read_marks\":false` nobody is told, and the caller is not told either what others have read."),
        ]
    }

    private func send(_ call: PersonCall<DirectMessageDraft>) async throws -> Answer<DirectMessage> {
        let key = try call.request.idempotencyKey
        let draft = try await call.body()
        // Friends write to each other without the study service as well.
        let isClassmate = await classmates.value ? study.isClassmate(draft.to, of: call) : false
        let command = SendDirectMessage(draft, classmate: isClassmate == true, requestKey: key)
        do {
            return Answer(try await messaging.request(command, for: call))
        } catch let failure as CommandFailure where failure.status == .notFound && failure.field == "to" && isClassmate == nil {
            throw Problem(
                .serviceUnavailable, "The study service does not say whether the two are classmates; nothing was sent.")
        }
    }

    private func read(_ call: PersonCall<NoBody>, _ query: MessageNewsQuery) async throws -> Answer<MessageNews> {
        Answer(try await messaging.request(query.command(on: call.principal.device), for: call))
    }

    private func conversation(
        _ call: PersonCall<NoBody>, _ query: ConversationQuery
    ) async throws -> Answer<ConversationPage> {
        let account = try call.account()
        let command = ListConversation(with: account, limit: query.pageSize, before: query.before)
        let page = try await messaging.request(command, for: call)
        let next = page.next.map { next in
            call.request.nextPage("/user/conversations/\(account)", limit: Int64(query.pageSize), ("before", "\(next)"))
        }
        return Answer(page, headers: .link(next: next))
    }
}
