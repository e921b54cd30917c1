import FoundationEssentials
import Base
import Schemas
import ServiceKit

/// What the archive, the audit log and the services' logs know about one message, one push, or one request without a message.
struct ItemLife: Encodable, Sendable {
    var message: Message?
    var push: Push?
    /// The blocks of the message's pushes to browsers; `nil` if it has none, or if they could not be read.
    var blocks: [MessageBlock]?
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
        let interventions = (record.trace ?? []).compactMap { entry in
            event(entry.at, "\(entry.action.rawValue) by \(entry.by)" + (entry.reason.map { ": \($0)" } ?? ""))
        }
        return [
            event(logged, "\(message == nil ? "logged" : "posted") by \(sender)")
        ].compactMap(\.self) + acceptances.map { LifeEvent(time: $0.time, source: "archive", text: $0.text) }
            + [event(record.ended, "ended: \(record.state.rawValue)")].compactMap(\.self) + interventions
    }

    /// When FCM, or the Web Push service, has accepted the parts.
    private var acceptances: [(time: UnixMilliseconds, text: String)] {
        if let message {
            return message.relay.components.compactMap { part in part.acceptedAt.map { ($0, Self.acceptance(of: part)) } }
        }
        guard let push else { return [] }
        return PushTransport.allCases.flatMap { transport in
            let parts = push.relay.recipients.filter { push.relay.transports(of: $0) == PushTransports(transport) }
            return Dictionary(parts.compactMap(\.acceptedAt).map { ($0, 1) }, uniquingKeysWith: +).map { time, count in
                let text =
                    switch transport {
                    case .fcm: "FCM has accepted it for \(counted(count, "recipient"))"
                    case .webpush: "push services have accepted it for \(counted(count, "browser"))"
                    }
                return (time, text)
            }
        }
    }

    private static func acceptance(of part: ComponentRecord) -> String {
        guard part.component == .webpush else { return "FCM has accepted the \(part.component.rawValue) component" }
        return "the Web Push service has logged the pushes" + (part.browsers.map { " to \(counted($0, "browser"))" } ?? "")
    }
}

/// One life as lines for a person.
struct LifeText: CustomStringConvertible {
    private static let maxLine = 600
    /// The maximum number of a push's recipients, or of a message's blocks, that are shown; the rest is counted.
    private static let maxRecipients = 20
    /// The default of MSI_ALERT_FETCH_DELAY: how long running apps leave an Alert to FCM, or without FCM to Web Push.
    private static let fetchDelay = Milliseconds(rawValue: 5_000)

    let life: ItemLife
    let key: TraceKey
    /// Whether the archive has been read.
    let isArchiveKnown: Bool
    /// Whether the logs have been read.
    let isLogKnown: Bool
    var now = UnixMilliseconds.now

    var description: String {
        ([headline] + rows.map { "  \($0.padded(to: 12))\($1.onOneLine(maxLength: Self.maxLine))" } + [""] + timeline)
            .joined(separator: "\n")
    }

    private var headline: String {
        if let message = life.message { return "message \(message.msiKey): \(message.relay.state.rawValue)" }
        if let push = life.push { return "push \(push.id): \(push.relay.state.rawValue)" }
        guard isArchiveKnown else { return "\(key.text): the archive could not be read" }
        switch key {
        case .item(let id): return "\(id): not in the archive"
        case .trace(let id): return "trace \(id): no message in the archive"
        }
    }

    private var rows: [(String, String)] {
        if let message = life.message { return rows(of: message) }
        if let push = life.push { return rows(of: push) }
        return []
    }

    private func rows(of message: Message) -> [(String, String)] {
        let names = [message.names.channel, message.names.area, message.names.subject].joined(separator: " / ")
        var rows = [
            ("title", message.title), ("subject", "\(names) (\(message.topicKey))"), ("sender", message.sender),
            ("kind", kind(of: message)),
        ]
        if let corrected = message.follows {
            rows.append((message.corrects != nil ? "corrects" : "follows", "\(corrected)"))
        }
        if let followUps = message.followUps, !followUps.isEmpty {
            rows.append(("followed by", followUps.map(\.description).joined(separator: ", ")))
        }
        if let time = message.sendAt { rows.append(("scheduled", time.text)) }
        if let delay = message.delay { rows.append(("delay", "\(delay) s")) }
        rows += delivery(message.relay, expires: message.expires)
        rows += message.relay.components.map { ($0.component.title, outcome(of: $0)) }
        rows += blockRows(of: message)
        if let fetch = fetch(of: message) { rows.append(("apps", fetch)) }
        if let receipts = message.receipts {
            let isAccepted = message.relay.components.contains { $0.state == .accepted }
            let transport = message.relay.components.first?.component.transport ?? .fcm
            // They have fetched it, or the answer was lost.
            let way = message.distribution == .alert && !isAccepted ? "; \(transport.title) has not confirmed it" : ""
            let phones = counted(receipts.received, "phone")
            rows.append(("receipts", "received by \(phones), opened by \(receipts.opened)\(way)"))
        }
        return rows + traceRow
    }

    private func blockRows(of message: Message) -> [(String, String)] {
        guard let blocks = life.blocks else { return [] }
        let isDivided = message.relay.components.contains { $0.component == .webpush && $0.state == .accepted }
        guard !blocks.isEmpty else { return isDivided ? [("blocks", "none any more: each is removed a day after its end")] : [] }
        let rest = blocks.count - Self.maxRecipients
        return blocks.prefix(Self.maxRecipients).map { ("block", $0.description) }
            + (rest > 0 ? [("", "and \(counted(rest, "more block"))")] : [])
    }

    /// What running apps do with an Alert that FCM, or without FCM the Web Push service, is not known to have accepted, by the rule of the
    /// portal's `message-state.js`.
    private func fetch(of message: Message) -> String? {
        let relay = message.relay
        let accepted = relay.components.filter { $0.state == .accepted }
        guard message.distribution == .alert, accepted.allSatisfy({ $0.component == .webpush }) else { return nil }
        let scheduled = message.sendAt ?? message.delay.map { message.timestamp + Milliseconds($0) } ?? message.timestamp
        let trace = relay.trace ?? []
        let due = trace.filter { $0.action != .recall }.map(\.at).reduce(scheduled) { max($0, $1) }
        if relay.state == .recalled {
            let wasApproved = message.approval != true || relay.isApproved
            guard wasApproved, let ended = relay.ended, due < ended else { return nil }
            return "phones that have fetched it remove it"
        }
        let deciding = relay.components.first { $0.component == .data } ?? relay.components.first { $0.component == .webpush }
        guard relay.state == .pending || relay.state == .retrying, (message.receipts?.received ?? 0) == 0,
            let deciding, deciding.state == .pending, deciding.error != nil || due < now - Self.fetchDelay
        else { return nil }
        return "running apps can fetch it; they ask the hub about every minute"
    }

    private func kind(of message: Message) -> String {
        let marks = [message.drill == true ? "a drill" : nil, message.approval == true ? "needs an approval" : nil]
        return ([message.distribution.rawValue] + marks.compactMap(\.self)).joined(separator: ", ")
    }

    private func rows(of push: Push) -> [(String, String)] {
        let recipients = push.relay.recipients
        let person = push.person
        let isBlock = push.transport == .webpush && person == nil
        // Tokens are no secret of the product, but long.
        let shown = recipients.prefix(Self.maxRecipients).map { part in
            let isForBrowser = push.relay.transports(of: part) == .webpush
            let what = isForBrowser ? "browser" : part.recipient.device == nil ? part.recipient.field.rawValue : "phone"
            return (what, "\(part.recipient.text.prefix(40)): \(outcome(of: part, by: isForBrowser ? .webpush : .fcm))")
        }
        let rest = recipients.count - shown.count
        var rows = [("sender", push.sender)]
        if isBlock { rows.append(("kind", "a block of pushes to browsers, \(push.fairnessKey)")) }
        if let person { rows.append(("kind", "\(person.kind) to \(counted(person.accounts, "person"))")) }
        rows += delivery(push.relay, expires: push.expires)
        rows += shown
        if rest > 0 { rows.append(("", "and \(rest) more \(isBlock ? "browsers" : "recipients")")) }
        return rows + traceRow
    }

    private func delivery(_ record: some DeliveryRecord, expires: UnixMilliseconds) -> [(String, String)] {
        var rows = [("attempts", "\(record.attempts)")]
        if record.state == .held {
            rows.append(("held", "nothing goes out before it is released or approved: msi outbox list"))
        } else {
            rows += attempts(of: record)
        }
        return rows + [("expires", expires.text)]
    }

    /// The next attempt, or the present one. If both transports have something to send, each has its own.
    private func attempts(of record: some DeliveryRecord) -> [(String, String)] {
        guard let next = record.nextAttempt, let webpush = record.webpushAttempt, record.pendingTransports.contains(.fcm) else {
            guard let first = record.firstAttempt else { return [] }
            return [record.lease.map { ("in flight", "until \($0.until.text)") } ?? ("next attempt", first.text)]
        }
        return [(PushTransport.fcm, next), (.webpush, webpush)].map { transport, time in
            record.lease?.until == time
                ? ("in flight", "\(transport.title), until \(time.text)") : ("next attempt", "\(transport.title), \(time.text)")
        }
    }

    private func outcome(of part: ComponentRecord) -> String {
        guard let browsers = part.browsers else { return outcome(of: part, by: part.component.transport) }
        var part = part
        part.name = nil
        return outcome(of: part, by: .webpush) + ", handed over for \(counted(browsers, "browser"))"
    }

    private func outcome(of part: some DeliveryPart, by transport: PushTransport) -> String {
        let name = part.name.map { " by \(transport == .fcm ? "FCM" : "its push service") as \($0)" } ?? ""
        let time = part.acceptedAt.map { " at \($0.text)" } ?? ""
        // The error explains only a failure, and a wait for pop-ups. A recall or the expiry has ended the other items.
        let isReason = part.state == .failed || part.state == .pending && part.waitsForPopUps
        let label = isReason ? ": " : "; last error: "
        let error = part.error.map { label + "\($0.code) \($0.message)" } ?? ""
        return part.state.rawValue + name + time + error
    }

    private var traceRow: [(String, String)] {
        life.traceID.map { [("trace id", $0.description)] } ?? []
    }

    private var timeline: [String] {
        let events = life.events
        let width = (events.map(\.source.count).max() ?? 0) + 2
        return events.map { event in
            "\(event.time.text)  \(event.source.padded(to: width))\(event.text.onOneLine(maxLength: Self.maxLine))"
        } + [missingLines].compactMap(\.self)
    }

    /// Which lines of the services are missing, and why.
    private var missingLines: String? {
        let record = life.message?.relay as (any DeliveryRecord)? ?? life.push?.relay
        guard isLogKnown, let record else { return nil }
        let hasRelay = life.log.contains { $0.service == ServiceEntry.fcmRelay.executable }
        // It logs at any level what FCM does not accept.
        if record.attempts > 0, !hasRelay, !isAcceptedByFCM(record) {
            return "(no line of the relay: its log may be on another machine, or trimmed)"
        }
        guard !life.log.contains(where: { $0.level == "debug" }) else { return nil }
        return "(no lines about what went well: the services log that only at MSI_LOG_LEVEL=debug)"
    }

    /// Whether FCM has accepted at least one part, and every part that was tried. What has no parts for FCM counts as accepted.
    private func isAcceptedByFCM(_ record: some DeliveryRecord) -> Bool {
        let parts = record.parts.filter { record.transports(of: $0) == .fcm }
        guard !parts.isEmpty else { return true }
        let tried = parts.filter { $0.state == .accepted || $0.state == .failed || $0.error != nil && !$0.waitsForPopUps }
        return !tried.isEmpty && tried.allSatisfy { $0.state == .accepted }
    }
}

extension DeliveryPart {
    /// Whether it is data that the message log has not handed over yet, so that FCM delivers pop-ups first.
    fileprivate var waitsForPopUps: Bool { error?.catalogued == .fanOut }
}

extension UnixMilliseconds {
    /// ISO 8601 in UTC with milliseconds.
    fileprivate var text: String {
        // The style cuts what is below a millisecond, such as the last digit of a fraction that is not exact.
        let date = Date(timeIntervalSince1970: (Double(rawValue) + 0.5) / 1_000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
