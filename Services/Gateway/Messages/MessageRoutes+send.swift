import CommandBus
import HTTPRouting
import HTTPTypes
import Schemas

/// Messages by the names of their subject, for scripts.
extension MessageRoutes {
    var send: Route {
        Route(
            .post, "/send/:channel/:area/:subject", right: .send, query: SendQuery.self, body: TextBody.self,
            answer: .created(Posted.self)
        ) { call, query in
            let names = try SubjectNames(
                channel: call.name("channel"), area: call.name("area"), subject: call.name("subject"))
            let text = try await call.text(as: "message")
            let key = try call.request.idempotencyKey
            let outcome = try await posting.post(idempotencyKey: key, by: call.principal, for: call.caller) {
                let subject = try names.find(in: try await cube.current().channels).subject
                return MessagePost(try query.draft(text: text, to: subject.topicKey, subject.opt.distribution))
            } isFirst: { stored in
                let draft = try? query.draft(text: text, to: stored.topicKey, stored.distribution)
                return names.fit(stored.names) && draft.map { MessagePost($0).isSource(of: stored.draft) } ?? false
            }
            return answer(to: outcome)
        }.documented(
            "Send a text by names",
            "For scripts: the body is the text of the message, in UTF-8; JSON and forms are refused. Its title is the parameter `title`, or else its first line. "
                + "The notification text of an Alert is `desc`, or else the title. Names are percent-encoded; if no name is exactly "
                + "the same, their case does not matter.",
            path: ["channel": String.self, "area": String.self, "subject": String.self],
            headers: [.idempotencyKey], answerHeaders: [.location, .idempotencyReplayed],
            problems: [.ambiguousName, .notFound, .payloadTooLarge])
    }
}

extension Call {
    /// A name in the path, decoded.
    ///
    /// - Throws: ``Problem``.
    fileprivate func name(_ parameter: String) throws -> String {
        guard let name = self.parameter(parameter)?.percentDecoded else {
            throw Problem(.invalidField, "\(parameter): expected a name, percent-encoded in UTF-8", field: parameter)
        }
        return name
    }
}
