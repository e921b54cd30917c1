import ArgumentParser
import FCM
import FoundationEssentials
import JSON
import Schemas
import ServiceKit

/// `msi broadcast send`.
struct SendBroadcast: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends a broadcast by the FCM relay alone, while the rest of the hub is down.",
        discussion: """
            The file has a broadcast as POST /broadcast takes it, with an id that the hub has not given to another one, such as

              {"id":9001,"type":1,"expiry":120,"actiondata":{"translations":{"en":{"title":"Maintenance","msg":"Back at noon."}}}}

            Phones get it as version 1, at once; a downtime has its pop-up as well. The relay is that of MSI_FCM_RELAY_ENDPOINTS; by default \
            the one of MSI_STATE_DIR on this machine.

            The hub does not know the broadcast: phones that join later do not get it, it is not repeated, and it cannot be withdrawn. So the \
            last line is the same broadcast with its beginning. Once the hub is back, send it with POST /broadcast; phones that have it \
            show nothing twice.

            Exit status: 1 if FCM has not accepted everything, 65 if the file is wrong, 75 if the relay does not answer or may not send, 78 \
            if a setting is wrong.
            """)

    static var service: ServiceEntry { .fcmRelay }

    @Argument(help: ArgumentHelp("The file with the broadcast; - for standard input.", valueName: "file"))
    var file: String

    /// More than FCM carries, in any form.
    private static let maxBytes = 1 << 20

    func run(_ relay: ServiceClient, _ settings: SettingValues) async throws -> String {
        let broadcast = try broadcast(language: try settings.value(.broadcastLanguage))
        let phones = PhoneBroadcast(broadcast)
        var messages = [("data", try BroadcastPushData.broadcast(phones).message)]
        if let popup = try BroadcastPopup(phones) { messages.append(("pop-up", popup.message)) }
        var failures = 0
        for recipient in broadcast.recipients {
            for (part, message) in messages {
                let push = RelayPush(
                    pushID: ObjectID(), recipients: [recipient], message: message, expires: broadcast.expires)
                for outcome in try await relay.request(push).results {
                    switch outcome.result {
                    case .success(let name): print("\(recipient.text): \(part): \(name)")
                    case .failure(let error):
                        failures += 1
                        let line = "\(recipient.text): \(part): not accepted: \(error.code): \(error.message)"
                        print(line.onOneLine(maxLength: 500))
                    }
                }
            }
        }
        guard failures == 0 else {
            throw StartFailure(
                description: "FCM has not accepted \(failures) of \(broadcast.recipients.count * messages.count); send it again")
        }
        Self.say("the hub does not know this broadcast; once it is back, send it the next line with POST /broadcast")
        return String(decoding: try broadcast.document(in: .agreed).data, as: UTF8.self)
    }

    /// - Throws: ``InputFailure`` with the file's name.
    private func broadcast(language: String) throws -> Broadcast {
        do {
            let written = try WrittenBroadcast(Data(try InputText.read(file, maxBytes: Self.maxBytes).utf8))
            do throws(SchemaViolation) {
                return try Self.broadcast(written.draft, language: language, now: .now)
            } catch {
                throw written.renamed(error)
            }
        } catch {
            throw InputFailure(description: "\(file == "-" ? "standard input" : file): \(error)")
        }
    }

    /// The first version of a broadcast. With the beginning that it has now, the hub makes the same one of it later.
    static func broadcast(
        _ draft: BroadcastDraft, language: String, now: UnixMilliseconds
    ) throws(SchemaViolation) -> Broadcast {
        try draft.checkForSending(language: language, now: now)
        guard let id = draft.id else {
            throw SchemaViolation(field: "id", problem: "missing, expected a number by which phones know it")
        }
        var draft = draft
        draft.epoch = draft.epoch ?? BroadcastEpoch(now)
        let broadcast = Broadcast(draft, id: id, language: language, sender: "", now: now)
        guard broadcast.starts <= now else {
            throw SchemaViolation(field: "epoch", problem: "in the future: the relay sends at once")
        }
        return broadcast
    }
}
