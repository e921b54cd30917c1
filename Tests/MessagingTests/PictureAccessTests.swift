import Base
import Bus
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// Who sees a picture: who sees what it belongs to, and nobody else.
@Suite("Pictures over the bus", .timeLimit(.minutes(10)))
struct PictureAccessTests {
    @Test("The picture of a message is for its two persons, while they may write to each other", arguments: StoreKind.ofRules)
    func messages(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind) { messaging in
            let (ann, bob, cleo) = (messaging.person("ann"), messaging.person("bob"), messaging.person("cleo"))
            let upload = try await ann.upload(SampleMetadata.add(to: .jpeg, orientation: 1))
            let draft = DirectMessageDraft(to: "bob", picture: upload)
            let sent = try await ann.request(SendDirectMessage(draft, requestKey: "one"))
            #expect(sent.picture?.type == .jpeg && sent.picture?.bytes == SamplePicture.jpeg.bytes.count)
            // The upload is used up, and the repetition is recognised.
            #expect(try await ann.request(SendDirectMessage(draft, requestKey: "one")) == sent)
            let again = await ann.failure(of: SendDirectMessage(draft))
            #expect(again?.status == .notFound && again?.field == "picture")
            for person in [ann, bob] {
                #expect(try await person.picture(of: .message, sent.id) == SamplePicture.jpeg.bytes)
            }
            func nobodySees(_ persons: TestPerson...) async throws {
                for person in persons { #expect(try await person.picture(of: .message, sent.id) == nil) }
            }
            try await nobodySees(cleo)
            // Not by another way either.
            for holder in PictureHolder.allCases where holder != .message {
                #expect(try await bob.picture(of: holder, sent.id) == nil)
                #expect(try await bob.picture(of: holder, upload) == nil)
            }
            #expect(try await bob.picture(of: .message, "no id") == nil)
            for holder in PictureHolder.allCases where holder != .published {
                let nobody = await #expect(throws: CommandFailure.self) {
                    try await messaging.client.picture(of: holder, "\(sent.id)")
                }
                #expect(nobody?.status == .unauthenticated, "\(holder)")
            }

            messaging.people.block("ann", "bob")
            try await nobodySees(ann, bob, cleo)
            messaging.people.part("ann", "bob")
            try await nobodySees(ann, bob, cleo)
            messaging.people.befriend("ann", "bob")
            messaging.people.disable("ann")
            #expect(try await bob.picture(of: .message, sent.id) == SamplePicture.jpeg.bytes)
            messaging.people.failure = CommandFailure(.unavailable, "away")
            let away = await #expect(throws: CommandFailure.self) { try await bob.picture(of: .message, sent.id) }
            #expect(away?.status == .unavailable)
        }
    }

    @Test("The picture of a status is for friends, until it ends, is replaced or taken back", arguments: StoreKind.ofRules)
    func statuses(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let first = try await ann.setStatus(picture: ann.upload(SamplePicture.webp.bytes))
            #expect(try await ann.picture(of: .status, first.id) == SamplePicture.webp.bytes)
            #expect(try await bob.picture(of: .status, first.id) == SamplePicture.webp.bytes)
            messaging.people.part("ann", "bob")
            #expect(try await bob.picture(of: .status, first.id) == nil)
            messaging.people.befriend("ann", "bob")
            let second = try await ann.setStatus(picture: ann.upload(SamplePicture.png.bytes))
            #expect(try await bob.picture(of: .status, first.id) == nil)
            clock.pass(MessagingLimits.statusTime - 1)
            #expect(try await bob.picture(of: .status, second.id) == SamplePicture.png.bytes)
            clock.pass(1)
            for person in [ann, bob] { #expect(try await person.picture(of: .status, second.id) == nil) }
            let third = try await ann.setStatus(picture: ann.upload(SamplePicture.png.bytes))
            try await ann.request(RemoveStatus())
            #expect(try await bob.picture(of: .status, third.id) == nil)
        }
    }

    @Test("Pictures of profiles, reports and the hub's messages are read by what they belong to", arguments: StoreKind.ofRules)
    func others(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, settings: ["MSI_MESSAGING_PUBLISHED_DAYS": "2"], clock: clock) { messaging in
            let (ann, bob, client) = (messaging.person("ann"), messaging.person("bob"), messaging.client)
            #expect(try await bob.picture(of: .profile, "ann") == nil)
            try await ann.request(SetProfilePicture(ann.upload(SamplePicture.png.bytes)))
            #expect(try await ann.picture(of: .profile, "Ann") == SamplePicture.png.bytes)
            try await ann.request(SetProfilePicture(ann.upload(SamplePicture.losslessWebP.bytes)))
            #expect(try await bob.picture(of: .profile, "ann") == SamplePicture.losslessWebP.bytes)
            try await ann.request(SetProfilePicture(nil))
            #expect(try await bob.picture(of: .profile, "ann") == nil)
            #expect(await bob.failure(of: SetProfilePicture(ObjectID()))?.field == "picture")

            let evidence = try await bob.upload(SamplePicture.jpeg.bytes, forReport: true)
            let draft = ReportDraft(message: ObjectID(), account: "ann", picture: evidence)
            let report = try await bob.request(ReportMessage(draft)).id
            let staff = messaging.person("staff")
            #expect(try await staff.picture(of: .report, report) == SamplePicture.jpeg.bytes)
            #expect(try await staff.picture(of: .report, evidence) == nil)

            let published = try await client.client.send(
                PublishPicture(), bytes: Data(SamplePicture.jpeg.bytes), timeout: .seconds(60), context: staff.context)
            #expect(published.expires == clock.now + .seconds(2 * 86_400))
            #expect(try await client.picture(of: .published, "\(published.id)") == SamplePicture.jpeg.bytes)
            clock.pass(.seconds(2 * 86_400))
            #expect(try await client.picture(of: .published, "\(published.id)") == nil)
        }
    }

    @Test("A file that is no picture is refused with the reason, and an upload is a person's")
    func refused() async throws {
        try await RunningMessaging.with { messaging in
            let ann = messaging.person("ann")
            let bad = await #expect(throws: CommandFailure.self) { try await ann.upload([UInt8]("<svg/>".utf8)) }
            #expect(bad?.status == .invalid && bad?.field == "picture")
            #expect(bad?.message == "picture: the file is no PNG, JPEG or WebP")
            let large = SamplePNG.file(bytes: MessagingLimits.maxPictureBytes)
            let upload = try await ann.upload(large)
            let status = try await ann.setStatus(picture: upload)
            #expect(try await ann.picture(of: .status, status.id) == large)
            let nobody = await #expect(throws: CommandFailure.self) {
                try await messaging.client.client.send(AddPicture(), bytes: Data(SamplePicture.png.bytes), timeout: .seconds(60))
            }
            #expect(nobody?.status == .unauthenticated)
        }
    }
}
