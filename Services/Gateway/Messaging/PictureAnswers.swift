import Bus
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

/// The body of a route that reads a picture.
struct PictureBody: RawBody {
    static let mediaTypes = PictureType.allCases.map(\.mediaType)
    static let maxBytes = MessagingLimits.maxPictureBytes
}

extension Answer.Form where Value == NoContent {
    /// A picture of any type; the others are ``AnswerForm/otherPictures``.
    static var picture: Answer<NoContent>.Form { .ok(PictureType.png.mediaType) }
}

extension AnswerForm {
    static let otherPictures = [PictureType.jpeg, .webp].map { AnswerForm(.ok, mediaType: $0.mediaType) }
}

extension CommandClient {
    /// The answer with a picture and its bytes, which no cache may keep. The messaging service, whose client this is, checks that
    /// the caller sees it.
    ///
    /// - Parameters:
    ///   - holder: What has it.
    ///   - id: The id of that, as ``PictureHolder`` says.
    func picture(
        of holder: PictureHolder, _ id: some CustomStringConvertible, for call: RouteCall<some Sendable, NoBody>
    ) async throws -> Answer<NoContent> {
        let found = try await read(ReadPicture(of: holder, id.description), context: call.caller)
        guard let bytes = found.bytes else { throw CommandFailure(.internal, "a picture came without its bytes") }
        return Answer(
            picture: found.reply.type, ByteBuffer(bytes: bytes), cacheControl: "private, no-store", on: call.context.channel)
    }
}

extension Answer where Value == NoContent {
    /// A picture, which a browser saves, and does not show as a page.
    init(picture type: PictureType, _ bytes: ByteBuffer, cacheControl: String, on channel: any NIOCore.Channel) {
        self.init(
            body: .pieces(of: bytes, on: channel),
            headers: [
                .contentType: type.mediaType, .cacheControl: cacheControl,
                .contentDisposition: "attachment; filename=\"picture.\(type.suffix)\"",
            ])
    }
}
