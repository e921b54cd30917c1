import Base
import FCM
import FoundationEssentials
import Schemas
import Testing

/// Pushes to persons in the forms of commands, of documents and of FCM.
@Suite("Pushes to persons")
struct PushPersonTests {
    private static let message =
        ##"{"id":"6b01","link":"#people/requests","texts":{"en":"A request","ar":"طلب"},"urgency":"high"}"##
    private static let plain = #""idempotency_key":"k","fairness_key":"friends","message":\#(message),"expires":9"#
    private static let accounts = #""accounts":["ann","Ben"],"kind":"friend_request""#

    private static func log(_ json: String) throws -> LogPush { try LogPush(payload: Data(json.utf8)) }

    /// The invalid field in the error.
    private static func wrongField(_ json: String) -> String? { violation { try log(json) }?.field }

    @Test("A push to accounts has their kind, and reads back as it was written")
    func command() throws {
        let device = ObjectID()
        let command = try Self.log(#"{\#(Self.accounts),"except_device":"\#(device)",\#(Self.plain)}"#)
        #expect(command.recipients == [.account("ann"), .account("Ben")] && command.exceptDevice == device)
        #expect(command.kind == .friendRequest && command.tokens == nil && command.transport == nil)
        #expect(try LogPush(payload: command.payload()) == command)
        let built = try LogPush(
            idempotencyKey: "k", accounts: command.accounts ?? [], kind: .friendRequest, except: device, fairnessKey: "friends",
            message: PersonPush(command.message), expires: 9)
        #expect(built == command)
    }

    @Test("A push to accounts that breaks a rule is refused, and the error names the field")
    func rules() {
        #expect(Self.wrongField(#"{"accounts":["ann"],\#(Self.plain)}"#) == "kind")
        #expect(Self.wrongField(#"{"accounts":[],"kind":"k",\#(Self.plain)}"#) == "accounts")
        #expect(Self.wrongField(#"{"accounts":["ann","ANN"],"kind":"k",\#(Self.plain)}"#) == "accounts")
        #expect(Self.wrongField(#"{"accounts":["a b"],"kind":"k",\#(Self.plain)}"#) == "accounts[0]")
        let tooMany = (0...PushRecipient.maxAccounts).map { "\"a\($0)\"" }.joined(separator: ",")
        #expect(Self.wrongField(#"{"accounts":[\#(tooMany)],"kind":"k",\#(Self.plain)}"#) == "accounts")
        #expect(Self.wrongField(#"{\#(Self.accounts),"tokens":["t"],\#(Self.plain)}"#) == "accounts")
        #expect(Self.wrongField(#"{\#(Self.accounts),"transport":"fcm",\#(Self.plain)}"#) == "transport")
        #expect(Self.wrongField(#"{\#(Self.accounts),"project":"p",\#(Self.plain)}"#) == "project")
        for field in [#""kind":"friend_request""#, #""except_device":"\#(ObjectID())""#] {
            let wrong = Self.wrongField(#"{"tokens":["t"],\#(field),\#(Self.plain)}"#)
            #expect(wrong.map { field.contains($0) } == true)
        }
        let ofFCM = Self.plain.replacing(Self.message, with: #"{"data":{"a":"b"}}"#)
        #expect(Self.wrongField(#"{\#(Self.accounts),\#(ofFCM)}"#)?.hasPrefix("message") == true)
        let withoutEnglish = Self.plain.replacing(#""en":"A request","#, with: "")
        #expect(Self.wrongField(#"{\#(Self.accounts),\#(withoutEnglish)}"#) == "message.texts")
    }

    /// A push to three devices, as it is stored.
    private static func push() throws -> (push: Push, command: LogPush) {
        let command = try log(#"{\#(accounts),\#(plain)}"#)
        let content = try #require(try StoredPersonPush(command))
        let push = Push(
            sender: "people", idempotencyKey: "k", transport: .webpush, fairnessKey: "friends", message: try content.json,
            urgency: .high, logged: 1, expires: 9,
            relay: PushRecord(logged: command.recipients, by: .webpush, due: 1, expires: 9))
        return (push, command)
    }

    @Test("It names devices by their ids and transports, its content names no person, and its unregistered devices are no tokens")
    func document() throws {
        var (push, command) = try Self.push()
        #expect(push.person == (try StoredPersonPush(command)) && push.person?.accounts == 2 && push.messageKey == nil)
        let repeated = push
        let devices = [ObjectID(), ObjectID()]
        push.relay.recipients = [
            RecipientRecord(
                recipient: PushRecipient(device: devices[0], by: .fcm), state: .failed, error: DeliveryError(.unregistered)),
            RecipientRecord(recipient: PushRecipient(device: devices[1], by: .webpush), state: .accepted, name: "n"),
            RecipientRecord(recipient: .account("ann")),
        ]
        #expect(push.relay.recipients[0].isUnregistered && push.unregistered.isEmpty && PushEnded(push).unregistered.isEmpty)
        let transports: [PushTransports] = [.fcm, .webpush, [.fcm, .webpush]]
        #expect(push.relay.recipients.map { push.relay.transports(of: $0) } == transports)
        let json = String(decoding: try JSONCoder.encode(push), as: UTF8.self)
        #expect(json.contains(#""fcm_device":"\#(devices[0])""#) && json.contains(#""webpush_device":"\#(devices[1])""#))
        #expect(json.contains(#"{"account":"ann","state":"pending"}"#) && !json.contains("unregistered\":"))
        #expect(try JSONCoder.decode(Push.self, from: Data(json.utf8)) == push)
        let stored = try JSONCoder.encode(StoredRecipients(push.relay.recipients))
        #expect(try JSONCoder.decode(StoredRecipients.self, from: stored).records == push.relay.recipients)
        // A repeated command has accounts.
        #expect(push.isSameCommand(as: repeated) && repeated.isSameCommand(as: push))
    }

    @Test("FCM takes its message in each language, with the longest text", arguments: ["en", "ar", "tlh-KX", ""])
    func fcm(language: String) throws {
        let text = String(repeating: "\u{1F393}", count: 200)
        let account = try #require(AccountName("ann"))
        let command = try LogPush(
            idempotencyKey: "k", accounts: [account], kind: .friendAccepted, fairnessKey: "friends",
            message: PersonPush(id: "6b01", link: "#people/friends", texts: ["en": text, "ar": "طلب"]), expires: 9)
        let content = try #require(try StoredPersonPush(command))
        let message = content.fcm(in: language)
        #expect(try FCMRules.checked(message, for: [.token("t")]) == message)
        #expect(FCMRules.urgency(of: message) == .high)
        #expect(message["data"]?["person_kind"]?.string == "friend_accepted" && message["data"]?["person_id"]?.string == "6b01")
        #expect(message["notification"]?["title"]?.string == (language == "ar" ? "طلب" : text))
        for recipient in [PushRecipient.account("ann"), PushRecipient(device: ObjectID(), by: .fcm)] {
            #expect(violation { try FCMRules.checked(message, for: [recipient]) } != nil)
        }
    }
}
