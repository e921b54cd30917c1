import ArgumentParser
import Base
import Schemas
import ServiceKit

/// `msi webpush`: the browsers that have subscribed, and the key that their push services know the hub by.
struct WebPushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webpush",
        abstract: "Shows the subscriptions of browsers by push service, and makes a new key for their pushes.",
        discussion: """
            It talks to the Web Push service at MSI_WEBPUSH_ENDPOINTS; by default that is the one of MSI_STATE_DIR on this machine.

            Exit status: 0 if it is done, 1 if it is refused or Web Push is switched off, 75 if the service does not answer or has too much to do, 78 if a setting is \
            wrong.
            """,
        subcommands: [ListPushServicesCommand.self, RotatePushKeyCommand.self], defaultSubcommand: ListPushServicesCommand.self)
}

/// A subcommand that talks to the Web Push service.
protocol WebPushSubcommand: ServiceCommand {}

extension WebPushSubcommand {
    static var service: ServiceEntry { .webpush }

    static var suspicion: String {
        "Is msi up running, with the same MSI_STATE_DIR? Or is Web Push switched off there "
            + "(\(Setting.webPushContact.declaration.name)=off)?"
    }

    /// A setting that is missing here may be that of msi up, which has an example.
    static func switchedOff(by settings: SettingValues) throws -> String? {
        guard try settings.optional(.webPushContact) != nil, try !settings.includes(.webpush) else { return nil }
        return "Web Push is switched off (\(Setting.webPushContact.declaration.name)=off)"
    }
}

/// `msi webpush list`.
struct ListPushServicesCommand: WebPushSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the push services with their subscriptions, their last answers and why they are stopped.")

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run(_ webPush: ServiceClient, _ settings: SettingValues) async throws -> String {
        let counts = try await webPush.request(CountSubscriptions())
        guard !printsJSON else { return String(decoding: try JSONCoder.encode(counts), as: UTF8.self) }
        return counts.lines(at: .now).joined(separator: "\n")
    }
}

/// `msi webpush rotate`.
struct RotatePushKeyCommand: WebPushSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Makes a new key pair, which browsers subscribe with from now on.",
        discussion: """
            Earlier subscriptions keep their key, until their apps have noticed the new one and subscribed again. \
            After a theft, --forget removes the earlier keys at once: their subscriptions end, and get nothing until the apps are opened, \
            which then subscribe again. All instances of the service use the new key within half a minute.
            """)

    @Flag(help: "Remove the earlier keys. Their subscriptions end.")
    var forget = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run(_ webPush: ServiceClient, _ settings: SettingValues) async throws -> String {
        let new = try await webPush.request(RotateWebPushKey(forget: forget))
        if printsJSON { return String(decoding: try JSONCoder.encode(new), as: UTF8.self) }
        return "browsers subscribe with the new key \(new.key); "
            + (forget
                ? "the earlier ones are removed, and their subscriptions end" : "the earlier ones stay for their subscriptions")
    }
}

extension SubscriptionCounts {
    /// `120 subscriptions, 118 of them proven`.
    var summary: String { "\(counted(subscriptions, "subscription")), \(proven) of them proven" }

    /// The lines of `msi webpush`.
    func lines(at now: UnixMilliseconds) -> [String] {
        [summary] + hosts.map { "  \($0.host): \($0.description(at: now))" }
    }
}

extension PushServiceState {
    fileprivate func description(at now: UnixMilliseconds) -> String {
        let answer = lastAnswer.map { answer in
            "the last answer, of \((now - answer.at).rounded) ago: " + (answer.error ?? "accepted")
        }
        let waits = waiting == 1 ? "1 push waits" : "\(waiting) pushes wait"
        let parts = [
            counted(subscriptions, "subscription"), waiting > 0 ? waits : nil,
            stopped.map { "nothing is sent: \($0)" }, answer,
        ]
        return parts.compactMap(\.self).joined(separator: "; ").onOneLine(maxLength: 500)
    }
}
