import Bus
import FoundationEssentials
import HTTPTypes
import Base
import Schemas

/// Edits of messages that have not gone out.
extension MessageRoutes {
    var edit: Route {
        Route(
            .put, "/message/:msi_key", right: .send, query: SeenEdit.self, body: MessagePost.self, answer: .ok(Message.self)
        ) { call, seen in
            let message = try await message(of: call)
            let post = try await call.edited(message)
            do {
                let command = try await posting.edit(
                    of: message, to: post, seen: seen.edited, by: call.principal, for: call.caller)
                return try await answer(command, for: call)
            } catch {
                // A retry of the caller's last edit is no conflict with it, and the message may have gone out since.
                guard let stored = try? await self.message(of: call), stored.isEdited(to: post, by: call.principal.actor)
                else { throw error }
                return try await answer(with: stored, for: call)
            }
        }.documented(
            "Edit or move a message",
            "Replaces a message that is `held` for an approval, or scheduled for later. The body is that of a post; `topic_key` may be left "
                + "out. The subject, `follows` and `correction` stay. Without `send_at` and `delay` the message goes out now, and a `delay` "
                + "counts from now. A message that needs an approval is `held` afterwards, even if it had one. The answer is 409 if the message "
                + "is due, is on its way or has ended. Without the right `read` the answer is 204.",
            also: [AnswerForm(.noContent)], problems: [.topicUnknown, .distributionMismatch, .conflict, .payloadTooLarge])
    }
}

extension Message {
    /// Whether its last edit was made by this account, with the content of this post.
    fileprivate func isEdited(to post: MessagePost, by actor: String) -> Bool {
        guard let last = relay.trace?.last(where: { $0.action == .edit }), last.by == actor else { return false }
        return post.isSource(of: content, edited: last.at)
    }
}

/// Which edit of a message the caller has seen.
struct SeenEdit: Decodable, Checked, SchemaAnnotated {
    /// The `at` of the last `edit` in its trace, 0 for none; `nil` if the caller does not say.
    let edited: UnixMilliseconds?

    private enum CodingKeys: CodingKey, CaseIterable {
        case edited
    }

    func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(edited, CodingKeys.edited)
    }

    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "edited": [
                    "description":
                        "The time of the last edit that the caller has seen: `at` in the message's `trace`, or 0. After a later edit the answer is 409."
                ]
            ]
        ]
    }
}

extension RouteCall where Body == MessagePost {
    /// Reads the new form of a message, whose topic may be left out.
    ///
    /// - Throws: As ``body()``.
    fileprivate func edited(_ message: Message) async throws -> MessagePost {
        let bytes = try await RequestBody.bytes(of: request)
        guard !bytes.isEmpty else {
            throw SchemaViolation(field: "", problem: "expected a JSON object, found an empty body")
        }
        guard var json = try? JSONValue(parsing: bytes), json.members != nil, json["topic_key"] == nil else {
            return try JSONCoder.decodeStrictly(from: bytes)
        }
        json["topic_key"] = .string("\(message.topicKey)")
        return try JSONCoder.decodeStrictly(from: json.data)
    }
}
