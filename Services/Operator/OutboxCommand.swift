import ArgumentParser
import FoundationEssentials
import Glibc
import Base
import Schemas
import ServiceKit

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
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists what is held, the oldest first, with the time at which a release lets it go out.")

    @Flag(name: .customLong("json"), help: "Print a line of JSON for each.")
    var printsJSON = false

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        let items = try await messageLog.heldItems()
        if printsJSON {
            return try items.map { try $0.json }.joined(separator: "\n")
        }
        let messages = items.count { $0.kind == .message }
        let blocks = items.count { $0.isBlock }
        let browsers = blocks == 0 ? "" : " (\(counted(blocks, "block")) of pushes to browsers)"
        let now = UnixMilliseconds.now
        return
            (["\(messages) messages and \(items.count - messages) pushes\(browsers) are held"] + items.map { $0.line(at: now) })
            .joined(separator: "\n")
    }
}

/// `msi outbox release`.
struct ReleaseCommand: OutboxSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Lets held messages and pushes go out, at their time if that is later.",
        discussion: """
            A message whose time has not come waits for it, and one that needs an approval waits for that. Everything else goes out at \
            once. --dry-run shows which is which.
            """)

    @OptionGroup var choice: HeldChoice

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        try await choice.run(messageLog, "released", goOut: true) { ReleaseHeld(keys: $0) }
    }
}

/// `msi outbox discard`.
struct DiscardCommand: OutboxSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Withdraws held messages and pushes. They stay in the archive as recalled.")

    @OptionGroup var choice: HeldChoice

    func run(_ messageLog: ServiceClient, _ settings: SettingValues) async throws -> String {
        try await choice.run(messageLog, "discarded", goOut: false) { DiscardHeld(keys: $0) }
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

    @Flag(help: "Show what would be done, and do nothing.")
    var dryRun = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON; with --dry-run one for each.")
    var printsJSON = false

    func validate() throws {
        guard [!keys.isEmpty, all, newerThan != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Name the keys, or give --all or --newer-than.")
        }
    }

    /// The message log changes one item after another, and has to answer in time even with a slow database.
    private static let keysAtOnce = 10

    /// - Parameter goOut: Whether the items go out when it is done. Then the text says when.
    /// - Returns: The text for the terminal.
    /// - Throws: ``StartFailure`` if some were refused.
    func run<C: Command>(
        _ messageLog: ServiceClient, _ done: String, goOut: Bool, _ command: ([ObjectID]) -> C
    ) async throws -> String where C.Reply == HeldOutcome {
        // With --json, the times of named keys are not printed.
        let items = dryRun || keys.isEmpty || !printsJSON ? try await messageLog.heldItems() : []
        if dryRun { return try plan(items, done, goOut: goOut) }
        let chosen = chosen(from: items)
        let progress = ProgressLine()
        var outcome = HeldOutcome()
        for start in stride(from: 0, to: chosen.count, by: Self.keysAtOnce) {
            let part = Array(chosen[start..<min(start + Self.keysAtOnce, chosen.count)])
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
            let keys = Set(outcome.done)
            let departures = goOut ? items.filter { keys.contains($0.key) }.summaryOfDepartures : nil
            text = (["\(outcome.done.count) \(done)"] + [departures].compactMap(\.self) + refusals).joined(separator: "\n")
        }
        // A named key must succeed. Of a whole list, some may have expired since.
        guard outcome.refused.isEmpty || keys.isEmpty else {
            print(text)
            throw StartFailure(description: "\(outcome.refused.count) of \(chosen.count) were not \(done)")
        }
        return text
    }

    private func chosen(from items: [HeldItem]) -> [ObjectID] {
        guard keys.isEmpty else { return keys }
        guard let newerThan else { return items.map(\.key) }
        let earliest = UnixMilliseconds.now - newerThan.milliseconds
        return items.filter { $0.accepted >= earliest }.map(\.key)
    }

    /// The text of a dry run.
    ///
    /// - Throws: ``StartFailure`` if a key would be refused.
    private func plan(_ items: [HeldItem], _ done: String, goOut: Bool) throws -> String {
        let chosen = chosen(from: items)
        let keys = Set(chosen)
        let found = items.filter { keys.contains($0.key) }
        let now = UnixMilliseconds.now
        let text =
            printsJSON
            ? try found.map { try $0.json }
            : ["\(found.count) would be \(done)"] + [goOut ? found.summaryOfDepartures : nil].compactMap(\.self)
                + found.map { $0.line(at: now, goesOut: goOut) }
        let unknown = keys.subtracting(found.map(\.key)).sorted()
        guard unknown.isEmpty else {
            if !found.isEmpty { print(text.joined(separator: "\n")) }
            throw StartFailure(
                description: "not held since a restore: \(unknown.map(\.description).joined(separator: ", "))".onOneLine(
                    maxLength: 1_000))
        }
        return text.joined(separator: "\n")
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
    /// All held items.
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

extension [HeldItem] {
    /// When the items go out once they are released: `they go: 2 at once; 1 at its time, the first at 2026-11-26T08:00:00Z`.
    fileprivate var summaryOfDepartures: String? {
        guard !isEmpty else { return nil }
        let now = UnixMilliseconds.now
        let departures = map { $0.departure(at: now) }
        let atOnce = departures.count { $0 == .atOnce }
        let approvals = departures.count { $0 == .afterApproval }
        let times = departures.compactMap { if case .at(let time) = $0 { time } else { nil } }.sorted()
        var parts: [String] = []
        if atOnce > 0 { parts.append("\(atOnce) at once") }
        if let first = times.first {
            parts.append("\(times.count) at \(times.count == 1 ? "its time" : "their times"), the first at \(first.inUTC)")
        }
        if approvals > 0 { parts.append("\(approvals) after an approval") }
        return "they go: " + parts.joined(separator: "; ")
    }
}

extension HeldItem {
    /// When a held item goes out once it is released.
    fileprivate enum Departure: Hashable {
        case atOnce
        case at(UnixMilliseconds)
        case afterApproval
    }

    fileprivate func departure(at now: UnixMilliseconds) -> Departure {
        if needsApproval == true { return .afterApproval }
        return notBefore.flatMap { $0 > now ? .at($0) : nil } ?? .atOnce
    }

    /// Whether it is a block of the pushes of a message to browsers.
    fileprivate var isBlock: Bool { kind == .push && sender == ServiceEntry.webpush.name }

    fileprivate var json: String {
        get throws { String(decoding: try JSONCoder.encode(self), as: UTF8.self) }
    }

    /// One line of text about the item.
    ///
    /// - Parameter goesOut: `false` for a discarded item, whose line does not say that it goes out at once.
    fileprivate func line(at now: UnixMilliseconds, goesOut: Bool = true) -> String {
        let what =
            switch kind {
            case .message:
                [names.map { "\($0.channel) › \($0.area) › \($0.subject)" }, title].compactMap(\.self).joined(separator: ": ")
            case .push: "\(isBlock ? "block of pushes to browsers" : "push by \(sender)"), \(fairnessKey ?? "")"
            }
        let scheduled = notBefore.flatMap { $0 > now ? $0.inUTC : nil }
        let when: String? =
            switch departure(at: now) {
            case .atOnce: goesOut ? "goes out at once" : nil
            case .at(let time): "scheduled for \(time.inUTC)"
            case .afterApproval: "needs an approval" + (scheduled.map { ", scheduled for \($0)" } ?? "")
            }
        let notes = [when, attempts > 0 ? "was tried before" : nil].compactMap(\.self)
        let rest = notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))"
        // The time stays, however long the title is.
        return "\(key)  \((now - accepted).rounded) old, expires in \((expires - now).rounded)  \(what)".onOneLine(maxLength: 300)
            + rest
    }
}

extension ObjectID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
