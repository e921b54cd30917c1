import ArgumentParser
import FoundationEssentials
import Glibc
import JSON
import Schemas
import ServiceKit
import Time

/// `msi outbox`: what is held since a restore.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Lists, releases and discards what is held since a restore, while the product runs.",
        discussion: """
            It talks to the message log at MSI_MESSAGE_LOG_ENDPOINTS; by default that is the one of MSI_STATE_DIR on this machine.

            A held item expires at its own deadline, and is then shown as expired.

            Exit status: 0 if it is done, 1 if something is refused, 75 if the message log does not answer or has too much to do, 78 if a setting is wrong.
            """,
        subcommands: [ListHeldCommand.self, ReleaseCommand.self, DiscardCommand.self])
}

/// A subcommand that talks to the message log.
protocol OutboxSubcommand: ServiceCommand {}

extension OutboxSubcommand {
    static var service: ServiceEntry { .messageLog }
}

/// `msi outbox list`.
struct ListHeldCommand: OutboxSubcommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists what is held, the oldest first.")

    @Flag(name: .customLong("json"), help: "Print a line of JSON for each.")
    var printsJSON = false

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        let items = try await messageLog.heldItems()
        if printsJSON {
            return try items.map { String(decoding: try JSONCoder.encode($0), as: UTF8.self) }.joined(separator: "\n")
        }
        let messages = items.count { $0.kind == .message }
        let now = UnixMilliseconds.now
        return (["\(messages) messages and \(items.count - messages) pushes are held"] + items.map { $0.line(at: now) })
            .joined(separator: "\n")
    }
}

/// `msi outbox release`.
struct ReleaseCommand: OutboxSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Lets held messages and pushes go out, at their time if that is later.",
        discussion: "A message that needs an approval then waits for it.")

    @OptionGroup var choice: HeldChoice

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        try await choice.run(messageLog, "released") { ReleaseHeld(keys: $0) }
    }
}

/// `msi outbox discard`.
struct DiscardCommand: OutboxSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Withdraws held messages and pushes. They stay in the archive as recalled.")

    @OptionGroup var choice: HeldChoice

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        try await choice.run(messageLog, "discarded") { DiscardHeld(keys: $0) }
    }
}

/// Which held items a command is about.
struct HeldChoice: ParsableArguments {
    @Argument(help: "Their keys, as msi outbox list shows them.")
    var keys: [ObjectID] = []

    @Flag(help: "All that are held.")
    var all = false

    @Option(help: ArgumentHelp("Those that were accepted at most this long ago, such as 30m, 2h or 1d.", valueName: "age"))
    var newerThan: Age?

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func validate() throws {
        guard [!keys.isEmpty, all, newerThan != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Name the keys, or give --all or --newer-than.")
        }
    }

    /// - Returns: The text for the terminal.
    /// - Throws: ``StartFailure`` if some were refused.
    func run<C: Command>(
        _ messageLog: ServiceClient, _ done: String, _ command: ([ObjectID]) -> C
    ) async throws -> String where C.Reply == HeldOutcome {
        let chosen = try await chosen(messageLog)
        let progress = ProgressLine()
        var outcome = HeldOutcome()
        for start in stride(from: 0, to: chosen.count, by: HeldOutcome.maxKeys) {
            let part = Array(chosen[start..<min(start + HeldOutcome.maxKeys, chosen.count)])
            let reply = try await messageLog.request(command(part))
            outcome.done += reply.done
            outcome.refused += reply.refused
            progress.show("\(outcome.done.count) of \(chosen.count) \(done)")
        }
        progress.clear()
        let text: String
        if printsJSON {
            text = String(decoding: try JSONCoder.encode(outcome), as: UTF8.self)
        } else {
            let refusals = outcome.refused.map { "\($0.key): \($0.message)".onOneLine(maxLength: 300) }
            text = (["\(outcome.done.count) \(done)"] + refusals).joined(separator: "\n")
        }
        // A key that was named must be done. Of a whole list some may have expired meanwhile.
        guard outcome.refused.isEmpty || keys.isEmpty else {
            print(text)
            throw StartFailure(description: "\(outcome.refused.count) of \(chosen.count) were not \(done)")
        }
        return text
    }

    private func chosen(_ messageLog: ServiceClient) async throws -> [ObjectID] {
        guard keys.isEmpty else { return keys }
        let items = try await messageLog.heldItems()
        guard let newerThan else { return items.map(\.key) }
        let earliest = UnixMilliseconds.now - newerThan.milliseconds
        return items.filter { $0.accepted >= earliest }.map(\.key)
    }
}

/// An age on the command line: `90s`, `30m`, `2h`, `1d`.
struct Age: ExpressibleByArgument {
    let milliseconds: Milliseconds

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int64(argument.dropLast()),
            (1...100_000).contains(number)
        else { return nil }
        milliseconds = .seconds(number * unit)
    }
}

extension ServiceClient {
    /// All that is held.
    fileprivate func heldItems() async throws -> [HeldItem] {
        var items: [HeldItem] = []
        var after: ObjectID?
        repeat {
            let page = try await request(ListHeld(after: after))
            items += page.items
            after = page.next
        } while after != nil
        return items
    }
}

extension HeldItem {
    fileprivate func line(at now: UnixMilliseconds) -> String {
        let what =
            switch kind {
            case .message:
                [names.map { "\($0.channel) › \($0.area) › \($0.subject)" }, title].compactMap(\.self).joined(separator: ": ")
            case .push: "push by \(sender), \(fairnessKey ?? "")"
            }
        let notes = [
            notBefore.flatMap { $0 > now ? "scheduled" : nil }, needsApproval == true ? "needs an approval" : nil,
            attempts > 0 ? "was tried before" : nil,
        ].compactMap(\.self)
        let rest = notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))"
        return "\(key)  \(Self.age(now - accepted)) old, expires in \(Self.age(expires - now))  \(what)\(rest)".onOneLine(
            maxLength: 300)
    }

    private static func age(_ time: Milliseconds) -> String {
        let seconds = max(0, time.rawValue / 1_000)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension ObjectID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
