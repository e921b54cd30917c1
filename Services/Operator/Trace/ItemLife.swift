import FoundationEssentials
import JSON
import Schemas

/// What the archive, the audit log and the services' logs know about one message, one push, or one request without a message.
struct ItemLife: Encodable, Sendable {
    var message: Message?
    var push: Push?
    /// The oldest first.
    var audit: [NumberedAuditEntry] = []
    /// The oldest first.
    var log: [Line] = []

    /// A line of a log, in JSON.
    struct Line: Encodable, Sendable {
        let time: UnixMilliseconds
        let level: String
        let service: String
        let text: String

        init(_ record: LogRecord) {
            time = record.time
            level = record.level
            service = record.service
            text = record.text
        }
    }

    /// Whether nothing is known.
    var isEmpty: Bool { message == nil && push == nil && audit.isEmpty && log.isEmpty }

    var traceID: TraceID? {
        // `00-<32 digits>-…`
        (message?.traceparent ?? push?.traceparent)?.split(separator: "-").dropFirst().first.flatMap { TraceID(String($0)) }
    }

    /// When the archive got it; nothing about it is older.
    var logged: UnixMilliseconds? { message?.timestamp ?? push?.logged }
}

/// One moment of a life, as a line.
struct LifeEvent: Sendable {
    let time: UnixMilliseconds
    /// A service, `audit` or `archive`.
    let source: String
    let text: String
}

extension ItemLife {
    /// Everything that happened, in the order of time.
    var events: [LifeEvent] {
        // Sorting is stable, so equal times keep this order.
        (audit.map(Self.event) + archiveEvents + log.map(Self.event)).sorted { $0.time < $1.time }
    }

    private static func event(_ numbered: NumberedAuditEntry) -> LifeEvent {
        let entry = numbered.entry
        let place = entry.address.map { " from \($0)" } ?? ""
        return LifeEvent(
            time: entry.at, source: "audit",
            text: "\(entry.action) by \(entry.actor ?? "a program")\(place) (entry \(numbered.number))")
    }

    private static func event(_ line: Line) -> LifeEvent {
        let level = ["info", "debug", "trace", "notice", ""].contains(line.level) ? "" : "\(line.level): "
        let service = line.service.hasPrefix("msi-") ? String(line.service.dropFirst(4)) : line.service
        return LifeEvent(time: line.time, source: service, text: level + line.text)
    }

    private var archiveEvents: [LifeEvent] {
        func event(_ time: UnixMilliseconds?, _ text: String) -> LifeEvent? {
            time.map { LifeEvent(time: $0, source: "archive", text: text) }
        }
        guard let record = message?.relay as (any DeliveryRecord)? ?? push?.relay else { return [] }
        let sender = message?.sender ?? push?.sender ?? ""
        let interventions = (record.trace ?? []).compactMap { event($0.at, "\($0.action.rawValue) by \($0.by)") }
        return [
            event(logged, "\(message == nil ? "logged" : "posted") by \(sender)")
        ].compactMap(\.self) + acceptances.map { LifeEvent(time: $0.time, source: "archive", text: $0.text) }
            + [event(record.ended, "ended: \(record.state.rawValue)")].compactMap(\.self) + interventions
    }

    /// When FCM has accepted the parts. An earlier version has stored the time of a message's data component alone.
    private var acceptances: [(time: UnixMilliseconds, text: String)] {
        if let message {
            return message.relay.components.compactMap { part in
                let time = part.acceptedAt ?? (part.component == .data ? message.relay.accepted : nil)
                return time.map { ($0, "FCM has accepted the \(part.component.rawValue) component") }
            }
        }
        let times = (push?.relay.recipients ?? []).compactMap(\.acceptedAt)
        return Dictionary(times.map { ($0, 1) }, uniquingKeysWith: +).map { time, count in
            (time, "FCM has accepted it for \(count) recipient\(count == 1 ? "" : "s")")
        }
    }
}
