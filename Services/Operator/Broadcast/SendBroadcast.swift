import ArgumentParser
import FCM
import FoundationEssentials
import Glibc
import JSON
import Schemas
import ServiceKit

/// `msi broadcast send`.
struct SendBroadcast: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends a broadcast by the FCM relay alone, while the rest of the hub is down.",
        discussion: """
            The file has a broadcast as POST /broadcast takes it, such as

              {"type":1,"expiry":120,"actiondata":{"translations":
                {"en":{"title":"Maintenance","msg":"Back at noon."}}}}

            Phones get it as version 1, at once; a downtime has its pop-up as well. The relay is that of MSI_FCM_RELAY_ENDPOINTS; by default \
            the one of MSI_STATE_DIR on this machine.

            Phones know it by its id, which the hub must not have given to another one; without one in the file it is the time in seconds. \
            Phones drop every other broadcast with an id that they have: a corrected text needs another id.

            Before anything is sent, two lines say the broadcast with its id and its beginning. If something was not accepted, or not \
            answered, send the first one again: phones drop what they have. The hub does not know the broadcast: phones that join later do not \
            get it, it is not repeated, and it cannot be withdrawn. So send the second one with POST /broadcast when the hub is back. \
            Phones that have it show nothing twice, and it has no pop-up.

            Only this second line goes to standard output, so that it can be kept in a file. The first one, each of FCM's answers and \
            everything else go to standard error.

            Exit status: 1 if FCM has not accepted everything, 65 if the file is wrong, 75 if the relay does not answer or may not send, 78 \
            if a setting is wrong.
            """)

    static var service: ServiceEntry { .fcmRelay }

    @Argument(help: ArgumentHelp("The file with the broadcast; - for standard input.", valueName: "file"))
    var file: String

    /// More than FCM carries, in any form.
    private static let maxBytes = 1 << 20

    func run(_ relay: ServiceClient, _ settings: SettingValues) async throws -> String {
        let (broadcast, hasOwnID) = try self.broadcast(language: try settings.value(.broadcastLanguage))
        let parts = try Self.pushes(of: broadcast, maxBytes: try settings.value(.fcmTopicPayloadLimit))
        Self.say(
            hasOwnID
                ? "phones that already have a broadcast \(broadcast.id) drop this one: a corrected text needs another id"
                : "the broadcast has the id \(broadcast.id)")
        Self.say("to send it again: \(try Self.line(broadcast))")
        Self.say("the hub does not know it; once it is back, send it the next line with POST /broadcast")
        print(try Self.lineForHub(broadcast))
        // Before the sends, so that the lines are there if the command is ended during them.
        fflush(nil)
        let sent = await Self.send(parts, by: relay)
        for line in sent.lines { Self.say(line.onOneLine(maxLength: 500)) }
        if sent.unknown > 0 {
            Self.say("the outcome of \(sent.unknown) is unknown: send this broadcast again, with the same id and beginning")
        }
        if let first = sent.errors.first, sent.errors.count == parts.count { throw first }
        guard sent.failures == 0 else {
            throw StartFailure(description: "FCM has not accepted \(sent.failures) of \(sent.lines.count); send it again")
        }
        Self.say("FCM has accepted broadcast \(broadcast.id)")
        return ""
    }

    /// The broadcast in one line, to be sent by the relay again.
    static func line(_ broadcast: Broadcast) throws -> String {
        String(decoding: try broadcast.document(in: .agreed).data, as: UTF8.self)
    }

    /// The broadcast in one line, to be entered at the hub. It has no pop-up: phones have shown it.
    static func lineForHub(_ broadcast: Broadcast) throws -> String {
        var entered = broadcast
        if broadcast.type == .downtime { entered.actionData.popup = false }
        return try line(entered)
    }

    /// One FCM message.
    struct Part: Sendable {
        let name: String
        let push: RelayPush
    }

    /// The FCM messages of a broadcast. Sent again, each is the same one to the relay.
    static func pushes(of broadcast: Broadcast, maxBytes: Int) throws -> [Part] {
        let phones = PhoneBroadcast(broadcast)
        let data = try BroadcastPushData.broadcast(phones).message
        var parts = broadcast.recipients.map { part("data", data, to: $0, of: broadcast) }
        if let popup = try BroadcastPopup(phones, maxBytes: maxBytes) {
            parts += broadcast.popupRecipients.map { part("pop-up", popup.message, to: $0, of: broadcast) }
        }
        return parts
    }

    private static func part(
        _ name: String, _ message: JSONValue, to recipient: PushRecipient, of broadcast: Broadcast
    ) -> Part {
        let seconds = UInt32(truncatingIfNeeded: broadcast.starts.seconds)
        let hash = StableHash.of("\(broadcast.id) \(name) \(recipient.field.rawValue) \(recipient.text)".utf8)
        let bytes = withUnsafeBytes(of: seconds.bigEndian) { [UInt8]($0) } + withUnsafeBytes(of: hash.bigEndian) { [UInt8]($0) }
        return Part(
            name: name,
            push: RelayPush(
                pushID: ObjectID(bytes: bytes) ?? ObjectID(), recipients: [recipient], message: message,
                expires: broadcast.expires))
    }

    /// What became of the messages.
    struct Sent: Sendable {
        /// One for each message.
        var lines: [String] = []
        /// How many FCM has not accepted, as far as is known.
        var failures = 0
        /// Of how many the relay has not said whether FCM has them.
        var unknown = 0
        /// The relay's own errors.
        var errors: [CommandFailure] = []
    }

    /// Sends all messages, also after one that failed.
    private static func send(_ parts: [Part], by relay: ServiceClient) async -> Sent {
        // Together, so that a relay that hangs is waited for once.
        let answers = await withTaskGroup(of: (Int, Result<RelayPush.Reply, CommandFailure>).self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask {
                    do throws(CommandFailure) {
                        return (index, .success(try await relay.request(part.push)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var answers: [Int: Result<RelayPush.Reply, CommandFailure>] = [:]
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
        var sent = Sent()
        for (index, part) in parts.enumerated() {
            if let answer = answers[index] { note(answer, of: part, in: &sent) }
        }
        return sent
    }

    static func note(_ answer: Result<RelayPush.Reply, CommandFailure>, of part: Part, in sent: inout Sent) {
        let name = "\(part.push.recipients.map(\.text).joined(separator: ", ")): \(part.name)"
        switch answer {
        case .failure(let failure):
            let isUnknown = failure.status == .deadlineExceeded || failure.status == .unavailable
            sent.failures += 1
            sent.unknown += isUnknown ? 1 : 0
            sent.errors.append(failure)
            sent.lines.append("\(name): \(isUnknown ? "no answer" : "refused"): \(failure.message)")
        case .success(let reply):
            for outcome in reply.results {
                switch outcome.result {
                case .success(let accepted): sent.lines.append("\(name): \(accepted)")
                case .failure(let error):
                    sent.failures += 1
                    sent.lines.append("\(name): not accepted: \(error.code): \(error.message)")
                }
            }
        }
    }

    /// - Returns: The broadcast, and whether its file has the id.
    /// - Throws: ``InputFailure`` with the file's name.
    private func broadcast(language: String) throws -> (broadcast: Broadcast, hasOwnID: Bool) {
        do {
            let written = try WrittenBroadcast(Data(try InputText.read(file, maxBytes: Self.maxBytes).utf8))
            do throws(SchemaViolation) {
                return (try Self.broadcast(written.draft, language: language, now: .now), written.draft.id != nil)
            } catch {
                throw written.renamed(error)
            }
        } catch {
            throw InputFailure(description: "\(file == "-" ? "standard input" : file): \(error)")
        }
    }

    /// The first version of a broadcast. With the id and the beginning that it has now, the hub makes the same one of it later.
    static func broadcast(
        _ draft: BroadcastDraft, language: String, now: UnixMilliseconds
    ) throws(SchemaViolation) -> Broadcast {
        try draft.checkForSending(language: language, now: now)
        var draft = draft
        draft.epoch = draft.epoch ?? BroadcastEpoch(now)
        // A number that the hub has hardly given, and that a later broadcast does not get.
        let id = draft.id ?? min(max(now.seconds, 1), BroadcastDraft.maxID)
        draft.id = id
        let broadcast = Broadcast(draft, id: id, language: language, sender: "", now: now)
        guard broadcast.starts <= now else {
            throw SchemaViolation(field: "epoch", problem: "in the future: the relay sends at once")
        }
        return broadcast
    }
}
