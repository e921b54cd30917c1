import ArgumentParser
import FoundationEssentials
import Glibc
import Schemas

/// `msi send`: sends a message through the gateway, by the names of its subject.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a message to the phones that subscribe to a subject.",
        discussion: """
            Prints the message's msi_key once the message is safely stored. With --wait it also says how its delivery ends, and for how many browsers it was handed over.

            The gateway is the one on this machine (MSI_GATEWAY_PORT, or MSI_GATEWAY_PUBLIC_URL if it uses TLS), or MSI_GATEWAY_URL. The token comes from MSI_TOKEN_FILE, or \
            from the file `token` in MSI_STATE_DIR. If the gateway or its answer is lost, the message is sent again with the same \
            Idempotency-Key, for half a minute, and is stored once.

            Exit status:
              0   the message is stored; with --wait: FCM and the Web Push service have it, unless one of them is switched off
              1   with --wait: the delivery has failed, or another account must approve the message first
              64  the arguments are wrong
              65  the gateway refuses the message
              69  with --wait: the message is stored, and its delivery cannot be followed, for example without the right read
              75  the gateway does not answer. If the message may be stored, the error says so, with the key for a safe repetition
              77  the token is missing or does not allow it
              78  a setting is wrong
            """)

    @Argument(
        help: ArgumentHelp(
            "The names of channel, area and subject: Campus/Weather/Storms. A slash inside a name is written \\/.",
            valueName: "channel/area/subject"),
        transform: SendPlace.init)
    var place: SendPlace

    @Argument(help: "The text of the message; -, or nothing, for standard input.")
    var text = "-"

    @Option(help: "The title; without it, the first of several lines of the text, or the subject's name.")
    var title: String?

    @Option(help: "The notification text of an Alert; without it, the beginning of the text.")
    var desc: String?

    @Option(help: "For how many seconds the message is worth delivering.")
    var ttl: Int?

    @Option(help: "When the message goes out: 2026-12-01T08:00:00+01:00, or Unix milliseconds.", transform: SendTime.init)
    var sendAt: SendTime?

    @Option(help: "For how many seconds the message waits before it goes out, so that it can be recalled.")
    var delay: Int?

    @Option(help: "The main link, which phones show as a button: https://…, tel:… or mailto:….")
    var link: String?

    @Flag(help: "Mark the message as a drill, at the start of its title.")
    var drill = false

    @Option(help: "A key that is used once for each message, to repeat the command safely; without it, a new one.")
    var idempotencyKey: String?

    @Flag(help: "Wait until the message has been relayed, or has failed.")
    var wait = false

    func run() async throws {
        let key = idempotencyKey ?? "msi-send-\(UUID())"
        try await Self.withGateway { gateway, _ in
            let text = try text == "-" ? standardInput() : self.text
            let posted = try await send(text, key: key, through: gateway)
            print(posted.msiKey)
            fflush(nil)
            if wait {
                do {
                    try await waitForOutcome(of: posted.msiKey, at: gateway)
                } catch let failure as GatewayFailure {
                    Self.say("the message is stored, but its delivery cannot be followed: \(failure)")
                    throw ExitCode(EX_UNAVAILABLE)
                }
            } else if posted.state == .held {
                Self.say("another account must approve the message before it goes out")
            }
        }
    }

    private struct Posted: Decodable {
        let msiKey: ObjectID
        let state: RelayState

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
            case state
        }
    }

    private func send(_ text: String, key: String, through gateway: GatewayClient) async throws -> Posted {
        let names = place.names.map(\.percentEncoded).joined(separator: "/")
        let query = parameters.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        do {
            return try await gateway.post(
                "/send/\(names)" + (query.isEmpty ? "" : "?\(query)"), Data(text.utf8),
                type: "text/plain; charset=utf-8", key: key)
        } catch let failure as GatewayFailure where failure.mayBeDone {
            throw Self.unanswered(failure, key: key)
        }
    }

    /// The error of a message that may be stored or not.
    static func unanswered(_ failure: GatewayFailure, key: String) -> GatewayFailure {
        GatewayFailure(
            failure.kind,
            "\(failure.description.asSentence) The message may be stored or not. To send it again safely, repeat the command with its key: "
                + "msi send … --idempotency-key \(key.shellQuoted)")
    }

    private func waitForOutcome(of msiKey: ObjectID, at gateway: GatewayClient) async throws {
        var message: SentMessage
        repeat {
            try await Task.sleep(for: .milliseconds(500))
            message = try await gateway.get("/message/\(msiKey)")
        } while message.isPending
        print(message.summary)
        guard message.relay.state == .relayed else { throw ExitCode.failure }
    }

    /// The query of `POST /send/…`.
    var parameters: [(name: String, value: String)] {
        [
            ("title", title), ("desc", desc), ("ttl", ttl.map(String.init)), ("send_at", sendAt.map { String($0.milliseconds) }),
            ("delay", delay.map(String.init)), ("drill", drill ? "true" : nil), ("link", link),
        ].compactMap { name, value in value.map { (name, $0) } }
    }

    private func standardInput() throws -> String {
        if isatty(STDIN_FILENO) == 1 { Self.say("type the text, and end it with Ctrl-D") }
        do {
            return try InputText.read("-", maxBytes: GatewayClient.maxBodyBytes)
        } catch {
            throw GatewayFailure(.refused, "the text on standard input: \(error)")
        }
    }
}

/// A time on the command line.
struct SendTime: Hashable, Sendable {
    /// Unix milliseconds.
    let milliseconds: Int64

    /// - Parameter text: Unix milliseconds, or a date with a time and its offset, as in ISO 8601.
    init(_ text: String) throws {
        if let milliseconds = Int64(text) {
            self.milliseconds = milliseconds
        } else if let date = try? Date.ISO8601FormatStyle().parse(text) {
            milliseconds = Int64((date.timeIntervalSince1970 * 1_000).rounded())
        } else {
            throw ValidationError("expected a time such as 2026-12-01T08:00:00+01:00, or Unix milliseconds, found \"\(text)\"")
        }
    }
}

/// The names of channel, area and subject on the command line.
struct SendPlace: Hashable, Sendable {
    let names: [String]

    init(_ text: String) throws {
        var names = [""]
        var rest = text[...]
        while let character = rest.popFirst() {
            switch (character, rest.first) {
            case ("\\", "/"): names[names.count - 1].append(rest.removeFirst())
            case ("/", _): names.append("")
            default: names[names.count - 1].append(character)
            }
        }
        guard names.count == 3, names.allSatisfy({ !$0.isEmpty }) else {
            throw ValidationError("expected three names, such as Campus/Weather/Storms, found \"\(text)\"")
        }
        self.names = names
    }
}

/// A message at the gateway, as far as `msi send` reports it.
struct SentMessage: Decodable, Sendable {
    let relay: RelayRecord

    /// Whether its state can still change without a person.
    var isPending: Bool { relay.state != .held && relay.ended == nil && relay.nextAttempt != nil }

    /// One line about the outcome.
    var summary: String {
        if relay.isHeldByRestore { return "held (it was restored from a backup; msi outbox release releases it)" }
        if relay.state == .held { return "held (another account must approve it)" }
        let outcomes = relay.components.compactMap { part -> String? in
            if let browsers = part.browsers { return "\(part.component.title): handed over for \(counted(browsers, "browser"))" }
            guard relay.state != .relayed else { return nil }
            return part.error.map { "\(part.component.title): \($0.code) \($0.message)" }
        }
        return relay.state.rawValue + (outcomes.isEmpty ? "" : " (\(outcomes.joined(separator: "; ")))")
    }
}
