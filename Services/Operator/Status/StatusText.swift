import Schemas
import ServiceKit
import Time

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
        let relayed = canary.relayedAfter.map { ", accepted by FCM after \(Self.seconds($0)) s" } ?? ""
        let received =
            canary.lastReceived.map {
                "its phone has reported \(canary.received) of the last \(canary.recent), the newest of \(age($0)) ago"
            }
            ?? "its phone has reported none of the last \(canary.recent)"
        return "canary: the last message, of \(age(canary.posted)) ago, is \(canary.state.rawValue)\(relayed); \(received)"
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
