import ArgumentParser
import Base
import FCM
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// `msi broadcast`: broadcasts for the time while the hub is away.
struct BroadcastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broadcast", abstract: "Writes the active broadcasts to a file, or sends one while the hub is down.",
        subcommands: [ExportBroadcasts.self, SendBroadcast.self])
}

/// `msi broadcast export`.
struct ExportBroadcasts: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the active broadcasts for a server that phones ask while the hub is away.",
        discussion: """
            The file is as MSI_BROADCAST_FILE keeps it: JSON like the answer of GET /broadcast/active with "format": 1, for the phones of \
            every channel. \
            Broadcasts that have not begun are left out: export again when they begin. Everyone may read it. The broadcast service is that of \
            MSI_BROADCAST_ENDPOINTS; by default the one of MSI_STATE_DIR on this machine.

            A file that exists is replaced only with --replace, and only when the new one is complete. A link is replaced by a file. A \
            pipe, or a path in /dev, is written to. /dev/stdout is standard output, as - is. Run it as the user that the file's folder \
            belongs to.

            Exit status: 1 if the service refuses the command, 65 if the file exists or cannot be written, 75 if the broadcast service does \
            not answer, 78 if a setting is wrong.
            """)

    static var service: ServiceEntry { .broadcast }

    @Argument(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var file: String

    @Flag(help: "Replace the file if it exists.")
    var replace = false

    func run(_ client: ServiceClient, _ settings: SettingValues) async throws -> String {
        guard replace || !Self.exists(file) else {
            throw InputFailure(description: "\(file) exists already; --replace replaces it")
        }
        let active = try await client.request(ReadCurrentBroadcasts()).active(at: .now)
        let text = String(decoding: try JSONCoder.encode(BroadcastsFile(active)), as: UTF8.self) + "\n"
        guard file != "-", file != "/dev/stdout" else {
            try OutputFile.write(text, to: "-")
            return ""
        }
        if Self.isWrittenTo(file) {
            try OutputFile.write(text, to: file)
        } else {
            do throws(DurableFileFailure) {
                DurableFiles.removeOldDrafts(of: file)
                try DurableFiles.replace(file, text, isPublic: true)
            } catch {
                throw InputFailure(description: "\(error)")
            }
        }
        return Self.summary(of: active, in: file)
    }

    static func summary(of active: ActiveBroadcasts, in file: String) -> String {
        let count = active.broadcasts.count
        return "\(file): \(count) active broadcast\(count == 1 ? "" : "s"), \(active.withdrawn.count) withdrawn or over"
    }

    /// Whether there is a file, or a link, that would be replaced.
    static func exists(_ file: String) -> Bool {
        var status = stat()
        return file != "-" && lstat(file, &status) == 0 && !isWrittenTo(file)
    }

    /// Whether the document is written into the file, as into a pipe, instead of replacing it. A symbolic link in a shared folder may be
    /// another user's, so only links in /dev are followed.
    static func isWrittenTo(_ file: String) -> Bool {
        if file.hasPrefix("/dev/") { return true }
        var status = stat()
        guard lstat(file, &status) == 0 else { return false }
        return ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT)
    }
}

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
        guard try settings.usesFCM else {
            throw StartFailure(
                description:
                    "FCM is switched off (\(Setting.fcm.declaration.name)=off), and no broadcast goes out by Web Push: apps get "
                    + "those that POST /broadcast has stored")
        }
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

    /// The outcomes of the messages.
    struct Sent: Sendable {
        /// One for each message.
        var lines: [String] = []
        /// How many FCM has not accepted, as far as is known.
        var failures = 0
        /// How many have an unknown outcome: the relay has not answered.
        var unknown = 0
        /// The relay's own errors.
        var errors: [CommandFailure] = []
    }

    /// Sends all messages, even after a failure.
    private static func send(_ parts: [Part], by relay: ServiceClient) async -> Sent {
        // Concurrently, so that a relay that hangs costs one timeout.
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

    /// - Returns: The broadcast, and whether the file contains an id.
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

    /// The first version of a broadcast. The hub later creates the same broadcast from its id and its beginning.
    static func broadcast(
        _ draft: BroadcastDraft, language: String, now: UnixMilliseconds
    ) throws(SchemaViolation) -> Broadcast {
        try draft.checkForSending(language: language, now: now)
        var draft = draft
        draft.epoch = draft.epoch ?? BroadcastEpoch(now)
        // A number that the hub has most likely not given, and that no later broadcast gets.
        let id = draft.id ?? min(max(now.seconds, 1), BroadcastDraft.maxID)
        draft.id = id
        let broadcast = Broadcast(draft, id: id, language: language, sender: "", now: now)
        guard broadcast.starts <= now else {
            throw SchemaViolation(field: "epoch", problem: "in the future: the relay sends at once")
        }
        return broadcast
    }
}
