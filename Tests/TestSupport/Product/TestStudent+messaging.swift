import Base
package import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Schemas

/// What students do with messages, statuses and pictures.
extension TestStudent {
    // MARK: Messages

    /// Writes to another person, which must be possible.
    ///
    /// - Parameter key: Of the request and its repetitions.
    package func write(_ text: String, to other: String, key: String? = nil) async throws -> DirectMessage {
        try await send(["to": .string(other), "text": .string(text)], key: key)
    }

    /// Sends an uploaded picture to another person, which must be possible.
    package func show(_ picture: UploadedPicture, to other: String) async throws -> DirectMessage {
        try await send(["to": .string(other), "picture": .string("\(picture.id)")])
    }

    private func send(_ draft: JSONValue, key: String? = nil) async throws -> DirectMessage {
        let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        let answer = try await portal.call(.POST, "/user/messages", headers: headers, draft)
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        return try JSONCoder.decode(from: answer.body)
    }

    /// Asks for what is new.
    ///
    /// - Parameter prompt: The message of the event or push that the device follows.
    package func fetch(after: Int64 = 0, prompt: ObjectID? = nil, limit: Int = 200) async throws -> HTTPAnswer {
        let prompted = prompt.map { "&prompt=\($0)" } ?? ""
        return try await call(.GET, "/user/messages?after=\(after)&limit=\(limit)\(prompted)")
    }

    /// What is new, of which the hub must tell.
    package func news(after: Int64 = 0, prompt: ObjectID? = nil) async throws -> MessageNews {
        let answer = try await fetch(after: after, prompt: prompt)
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try JSONCoder.decode(from: answer.body)
    }

    /// Says that this device has everything up to a position.
    package func confirm(_ after: Int64) async throws {
        try await change(.PUT, "/user/messages/received", ["after": .integer(after)])
    }

    /// Says that the person has read a message, and all before it.
    package func read(_ message: ObjectID) async throws {
        try await change(.PUT, "/user/messages/\(message)/read")
    }

    /// What the hub still has of a conversation.
    package func conversation(with other: String) async throws -> ConversationPage {
        try await document(.GET, "/user/conversations/\(other)")
    }

    // MARK: Pictures and statuses

    /// The answer to an upload.
    ///
    /// - Parameter forReport: Whether it is evidence.
    package func upload(_ picture: Data, forReport: Bool = false) async throws -> HTTPAnswer {
        let headers = ["Authorization": "Bearer \(portal.token ?? "")", "Content-Type": TestPicture.mediaType]
        let path = "/user/pictures" + (forReport ? "?report=true" : "")
        return try await portal.http.answer(
            .POST, "http://127.0.0.1:\(portal.port)\(path)", headers: headers, body: picture, within: .seconds(60))
    }

    /// Uploads a picture, which must be possible.
    package func uploaded(_ picture: Data, forReport: Bool = false) async throws -> UploadedPicture {
        let answer = try await upload(picture, forReport: forReport)
        guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        return try JSONCoder.decode(from: answer.body)
    }

    /// Sets a status of a text, or of an uploaded picture, which must be possible.
    package func setStatus(_ text: String? = nil, picture: UploadedPicture? = nil) async throws -> OwnStatus {
        let draft = try JSONValue(encoding: StatusDraft(text: text, picture: picture?.id))
        return try await document(.POST, "/user/status", draft, status: 201)
    }

    private func change(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws {
        let answer = try await call(method, path, body)
        guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
    }
}
