import ArgumentParser
import Glibc
import Base
import Schemas
import ServiceKit

/// `msi status`: what runs, and how far the messages are.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows the services with their states and versions, and how many messages wait.",
        discussion: """
            The gateway is that of `msi send`, and is asked for GET /health, GET /statistics and GET /session, each for at most 5 seconds. \
            The endpoints are those of this machine's settings. If Web Push is on, its service there is asked for the \
            subscriptions, and the study service for the number of its open sessions.

            The first line and the exit status say the same, as those of a Nagios plugin do, so that a monitoring system can call it:
              0   ok: everything works. Messages may be held
              1   degraded: messages are accepted, and something is away; or no phone has reported a message of the canary for five \
            intervals (MSI_CANARY_TOPIC; MSI_CANARY_INTERVAL, or the canary's own if that is longer)
              2   unavailable: messages are not accepted, or the gateway does not answer
              3   unknown: the services are well, and there is no token that can be read, the gateway refuses it, or the messages or the \
            canary cannot be looked at; or what answers is no gateway. A token without the right to read messages is ok
              78  a setting is wrong
            """)

    @Flag(help: "Show it again every two seconds, with the time, until Ctrl-C.")
    var watch = false

    @Flag(name: .customLong("json"), help: "Print a line of JSON.")
    var printsJSON = false

    func run() async throws {
        try await Self.withGateway { gateway, settings in
            if watch {
                try await untilInterrupted { try await showRepeatedly(gateway, settings) }
                return
            }
            do {
                let status = try await ProductStatus.read(from: gateway, settings)
                show(status)
                if status.status != .ok { throw status.status.exitCode }
            } catch let failure as GatewayFailure {
                // Monitoring systems show standard output.
                show(failure)
                throw Self.status(after: failure).exitCode
            }
        }
    }

    /// Shows a failure like a status: it may pass.
    private func showRepeatedly(_ gateway: GatewayClient, _ settings: SettingValues) async throws {
        while true {
            do {
                show(try await ProductStatus.read(from: gateway, settings))
            } catch let failure as GatewayFailure {
                show(failure)
            }
            fflush(nil)
            try await Task.sleep(for: .seconds(2))
        }
    }

    private static func status(after failure: GatewayFailure) -> ProductStatus.Status {
        failure.kind == .unreachable ? .unavailable : .unknown
    }

    private func show(_ status: ProductStatus) {
        if printsJSON, let json = try? JSONCoder.encode(status) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            beginReport()
            print(StatusText(status: status))
        }
    }

    private struct Report: Encodable {
        let status: ProductStatus.Status
        let problems: [String]
        let time: UnixMilliseconds
    }

    private func show(_ failure: GatewayFailure) {
        let status = Self.status(after: failure)
        let report = Report(status: status, problems: [failure.description], time: .now)
        if printsJSON, let json = try? JSONCoder.encode(report) {
            print(String(decoding: json, as: UTF8.self))
        } else {
            beginReport()
            print("\(status.rawValue): \(failure)")
        }
    }

    /// Prints the time before each report of `--watch`. A terminal is cleared first.
    private func beginReport() {
        guard watch else { return }
        if isatty(STDOUT_FILENO) == 1 { Swift.print("\u{1b}[H\u{1b}[2J", terminator: "") }
        print(UnixMilliseconds.now.inUTC)
    }
}

extension ProductStatus.Status {
    /// The exit status of a Nagios plugin.
    fileprivate var exitCode: ExitCode {
        switch self {
        case .ok: ExitCode(0)
        case .degraded: ExitCode(1)
        case .unavailable: ExitCode(2)
        case .unknown: ExitCode(3)
        }
    }
}

/// A product's status as lines for a person.
struct StatusText: CustomStringConvertible {
    let status: ProductStatus

    var description: String {
        let reasons = status.problems.isEmpty ? "" : " (\(status.problems.joined(separator: "; ")))"
        // Monitoring systems show only the first line.
        let first = "\(status.status.rawValue): Mobile Student Intranet at \(status.gateway)\(reasons)"
        var lines = [first.onOneLine(maxLength: 1_000), ""]
        lines += Self.columns([["service", "state", "version", "where"]] + services)
        lines.append("")
        lines += messages
        lines += status.webPush.lines(at: status.time)
        lines += status.study.lines
        lines += canary
        return lines.joined(separator: "\n")
    }

    /// A row for the gateway and each service, with its dependencies below.
    private var services: [[String]] {
        let health = status.health
        let own = ["gateway", "ok", health.versions["gateway"] ?? "", status.gateway]
        let gatewayParts = parts(health.parts["gateway"] ?? [:], indent: 1)
        return [own] + gatewayParts
            + status.places.flatMap { place in
                let state = health.services[place.name].map(\.rawValue) ?? ""
                let copy = health.copies[place.name].map { end in
                    "the gateway works with its copy for another \((end - .now).rounded)"
                }
                let row = [
                    place.name, state, health.versions[place.name] ?? "", place.endpoints.joined(separator: ", "),
                ]
                return [row] + (copy.map { [["", $0]] } ?? []) + parts(health.parts[place.name] ?? [:], indent: 1)
            }
    }

    private func parts(_ parts: [String: PartHealth], indent: Int) -> [[String]] {
        parts.sorted { $0.key < $1.key }.flatMap { name, part in
            let state = part.status.rawValue + (part.message.map { ": \($0.onOneLine(maxLength: 300))" } ?? "")
            return [[String(repeating: "  ", count: indent) + name, state, part.version ?? ""]]
                + self.parts(part.parts, indent: indent + 1)
        }
    }

    private var messages: [String] {
        guard let messages = status.messages else {
            return ["messages: not known: \(status.messagesFailure?.description ?? "")"]
        }
        let oldest = messages.oldestWaiting.map { ", the oldest for \(Milliseconds(rawValue: $0).rounded)" } ?? ""
        let held = messages.held == 0 ? "" : " for an approval or since a restore (msi outbox list)"
        let limit = messages.isLimited ? ", of what this token may see" : ""
        let ended = RelayState.allCases.filter { messages.endedLastMinute[$0] > 0 }
            .map { "\(messages.endedLastMinute[$0]) \($0.rawValue)" }
        return [
            "messages: \(messages.waiting) waiting\(oldest); \(messages.scheduled) scheduled, \(messages.held) held\(held)\(limit)",
            "in the last minute: \((["\(messages.acceptedLastMinute) accepted"] + ended).joined(separator: ", "))",
        ]
    }

    private var canary: [String] {
        switch status.canary {
        case .notSetUp: []
        case .unknown(let problem): ["canary: not known: \(problem)"]
        case .known(nil, _): ["canary: it has sent nothing in the last hour; is msi-canary running?"]
        case .known(let messages?, _): [line(about: messages)]
        }
    }

    private func line(about canary: CanaryMessages) -> String {
        func age(_ time: UnixMilliseconds) -> String { (status.time - time).rounded }
        let relayed = canary.relayedAfter.map { ", relayed after \(Self.seconds($0)) s" } ?? ""
        let received =
            canary.lastReceived.map {
                "its phone has reported \(canary.received) of the last \(canary.recent), the newest of \(age($0)) ago"
            }
            ?? "its phone has reported none of the last \(canary.recent)"
        return "canary: the last message, of \(age(canary.posted)) ago, is \(canary.state.rawValue)\(relayed); \(received)"
            + pushes(of: canary)
    }

    private func pushes(of canary: CanaryMessages) -> String {
        if let time = canary.pushAfter { return "; its last push arrived after \(Self.seconds(time)) s" }
        if let problem = canary.pushProblem { return "; no push arrives at it: \(problem.onOneLine(maxLength: 200))" }
        if case .off = status.webPush { return "" }
        return "; it measures no pushes (\(Setting<Int>.canaryPushPort.declaration.name))"
    }

    /// With one decimal.
    private static func seconds(_ milliseconds: Int64) -> String {
        let tenths = (milliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Aligns the columns of rows. The last cell of a row widens no column.
    private static func columns(_ rows: [[String]]) -> [String] {
        let rows = rows.map { row in Array(row[..<((row.lastIndex { !$0.isEmpty } ?? -1) + 1)]) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column -> Int in
            rows.filter { $0.count > column + 1 }.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            let padded = row.dropLast().enumerated().map { column, cell -> String in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            return (padded + row.suffix(1)).joined(separator: "  ")
        }
    }
}
