import Base
import Bus
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

/// Pictures of persons and of the hub's messages.
struct PictureRoutes: Feature {
    let messaging: CommandClient
    /// Knows who sees whose profile.
    let people: CommandClient
    /// Knows who is in which class.
    let study: CommandClient
    /// See ``GatewayAccess/publicURL``.
    let publicURL: String?
    /// The bytes of published pictures by their names: thousands of phones fetch that of a message within seconds.
    private let published: SharedAnswers

    private static let own = "/user/picture"
    private static let field = "picture"
    private static let unknown = Problem(.notFound, "There is no such picture.")

    init(messaging: CommandClient, people: CommandClient, study: CommandClient, publicURL: String?) {
        self.messaging = messaging
        self.people = people
        self.study = study
        self.publicURL = publicURL
        published = SharedAnswers { name, caller in
            guard let file = PictureFile(String(decoding: name, as: UTF8.self)) else { throw Self.unknown }
            let found = try await messaging.read(ReadPicture(of: .published, "\(file.id)"), context: caller)
            guard let bytes = found.bytes, found.reply.type == file.type else { throw Self.unknown }
            return bytes
        }
    }

    var section: APISection {
        APISection(
            "Pictures",
            "PNG, JPEG or WebP, told by its bytes, of at most \(MessagingLimits.maxPictureBytes) bytes and "
                + "\(MessagingLimits.maxPictureSide) pixels on each side, without animation. The hub cuts out what a file says "
                + "about its origin, such as a position, all but the orientation. Who sees a message, a status or a profile sees "
                + "its picture.")
    }

    var routes: [Route] { [upload] + profileRoutes + publicRoutes }

    private var upload: Route {
        Route(
            .post, "/user/pictures", right: .person, query: UploadQuery.self, body: PictureBody.self,
            answer: .created(UploadedPicture.self)
        ) { call, query in
            try call.checkRepeatableKey()
            let bytes = try await call.bytes(as: Self.field)
            let command = AddPicture(forReport: query.report ?? false)
            return Answer(try await messaging.send(command, bytes: bytes, context: call.caller))
        }.documented(
            "Upload a picture",
            "For a message, a status or the profile, within a day. With `report=true` it is for a report alone, and is stored "
                + "also while there is no room for others. 400 with the `field` `picture` says why a file is refused. 409 with "
                + "\(MessagingLimits.maxUploads) uploads that wait, and with \(MessagingLimits.maxSentPictures) pictures in messages "
                + "that the hub still has. Repeated, it is another upload of the same picture.",
            headers: [.uploadKey], problems: [.conflict])
    }

    private var profileRoutes: [Route] {
        [
            Route(.put, Self.own, right: .person, body: PictureChoice.self, answer: .noContent) { call in
                _ = try await messaging.request(SetProfilePicture(try await call.body().picture), for: call)
                return Answer()
            }.documented(
                "Set the picture of one's profile",
                "By the id of an upload: 404 with the `field` `picture` for one that the caller has not made. Who sees it says "
                    + "`visibility` of the profile.",
                problems: [.notFound]),
            Route(.delete, Self.own, right: .person, answer: .noContent) { call in
                _ = try await messaging.request(SetProfilePicture(nil), for: call)
                return Answer()
            }.documented("Remove the picture of one's profile", "Repeated, it changes nothing."),
            Route(.get, "/users/:id/picture", right: .person, answer: .picture, profile).documented(
                "Read the picture of a profile",
                "One's own, or that of a person who shows it to the caller: `picture` of `GET /users/{id}` is true. It counts as "
                    + "another look at a stranger. 404 for all others.",
                path: ["id": AccountName.self], also: AnswerForm.otherPictures),
        ]
    }

    private var publicRoutes: [Route] {
        [
            Route(.post, "/pictures", right: .send, body: PictureBody.self, answer: .created(PublishedPicture.self), publish)
                .documented(
                    "Publish a picture for messages",
                    "`url` is what the option `image` of a message takes. Everybody who has it sees the picture, which is kept "
                        + "until `expires`. 409 if the hub has no public address, by which phones and FCM fetch it, and with "
                        + "\(MessagingLimits.maxPublishedPictures) published pictures of the account that have not expired.",
                    headers: [.uploadKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.get, "/pictures/:file", right: .anonymous, answer: .picture) { call in
                guard let file = call.parameter("file").flatMap({ PictureFile($0) }) else { throw Self.unknown }
                let bytes = try await published.answer(to: ByteBuffer(string: file.description), for: call.caller)
                return Answer(
                    picture: file.type, bytes, cacheControl: "public, max-age=31536000, immutable", on: call.context.channel)
            }.documented(
                "Read a published picture", "It never changes, so it may be kept for ever.",
                path: ["file": PictureFile.self], also: AnswerForm.otherPictures
            ).counted(as: .phones),
        ]
    }

    private func profile(_ call: PersonCall<NoBody>) async throws -> Answer<NoContent> {
        var account = try call.account("id")
        if account != call.principal.account {
            let isClassmate = await study.isClassmate(account, of: call) == true
            let view = try await people.requestLimited(ViewPerson(account, classmate: isClassmate), context: call.caller)
            guard view.picture == true else { throw Problem(.notFound, "\(account) shows no picture to the caller.") }
            account = view.account
        }
        return try await messaging.picture(of: .profile, account, for: call)
    }

    private func publish(_ call: Call<PictureBody>) async throws -> Answer<PublishedPicture> {
        try call.checkRepeatableKey()
        guard let publicURL else {
            throw Problem(
                .conflict,
                "Phones and FCM fetch the picture of a message at the hub's public address, which the operator has not set "
                    + "(MSI_GATEWAY_PUBLIC_URL).")
        }
        let bytes = try await call.bytes(as: Self.field)
        let made = try await messaging.send(PublishPicture(), bytes: bytes, context: call.caller)
        let path = "/pictures/\(PictureFile(id: made.id, type: made.picture.type))"
        return Answer(
            PublishedPicture(url: publicURL + path, picture: made.picture, expires: made.expires),
            headers: [.location: path])
    }
}

extension RequestHeader {
    /// The key of an upload, whose form alone is checked: the bytes are stored once, however often they are uploaded.
    fileprivate static let uploadKey = RequestHeader(
        name: .idempotencyKey, schema: idempotencyKey.schema,
        description: "A text of your choice for the request and its retries. A retry is another upload of the same picture, with "
            + "another id.",
        example: "4b8e2d90-library-picture", problems: [])
}
