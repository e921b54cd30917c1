import FoundationEssentials
import Schemas
import ServiceKit
import Time

/// One life as lines for a person.
struct LifeText: CustomStringConvertible {
    private static let maxLine = 600
    /// The maximum number of a push's recipients that are shown; the rest is counted.
    private static let maxRecipients = 20
    /// For how long an Alert is left to FCM alone (MSI_ALERT_FETCH_DELAY), by default.
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
            rows.append((message.correction == true ? "corrects" : "follows", "\(corrected)"))
        }
        if let followUps = message.followUps, !followUps.isEmpty {
            rows.append(("followed by", followUps.map(\.description).joined(separator: ", ")))
        }
        if let time = message.sendAt { rows.append(("scheduled", time.text)) }
        if let delay = message.delay { rows.append(("delay", "\(delay) s")) }
        rows += delivery(message.relay, expires: message.expires)
        rows += message.relay.components.map { ($0.component.rawValue, outcome(of: $0)) }
        if let fetch = fetch(of: message) { rows.append(("apps", fetch)) }
        if let receipts = message.receipts {
            let isAccepted = message.relay.components.contains { $0.state == .accepted }
            // They have fetched it, or FCM's answer was lost.
            let way = message.distribution == .alert && !isAccepted ? "; FCM has not confirmed it" : ""
            let phones = "\(receipts.received) phone\(receipts.received == 1 ? "" : "s")"
            rows.append(("receipts", "received by \(phones), opened by \(receipts.opened)\(way)"))
        }
        return rows + traceRow
    }

    /// What running apps do with an Alert that FCM is not known to have accepted, by the rule of the portal's `message-state.js`.
    private func fetch(of message: Message) -> String? {
        let relay = message.relay
        guard message.distribution == .alert, !relay.components.contains(where: { $0.state == .accepted }) else { return nil }
        let scheduled = message.sendAt ?? message.delay.map { message.timestamp + Milliseconds($0) } ?? message.timestamp
        let trace = relay.trace ?? []
        let due = trace.filter { $0.action != .recall }.map(\.at).reduce(scheduled) { max($0, $1) }
        if relay.state == .recalled {
            let wasApproved = message.approval != true || trace.contains { $0.action == .approve }
            guard wasApproved, let ended = relay.ended, due < ended else { return nil }
            return "phones that have fetched it remove it"
        }
        guard relay.state == .pending || relay.state == .retrying, (message.receipts?.received ?? 0) == 0,
            let data = relay.components.first(where: { $0.component == .data }), data.state == .pending,
            data.error != nil || due < now - Self.fetchDelay
        else { return nil }
        return "running apps can fetch it; they ask the hub about every minute"
    }

    private func kind(of message: Message) -> String {
        let marks = [message.drill == true ? "a drill" : nil, message.approval == true ? "needs an approval" : nil]
        return ([message.distribution.rawValue] + marks.compactMap(\.self)).joined(separator: ", ")
    }

    private func rows(of push: Push) -> [(String, String)] {
        let recipients = push.relay.recipients
        // Tokens are no secret of the product, but long.
        let shown = recipients.prefix(Self.maxRecipients).map { part in
            (part.recipient.field.rawValue, "\(part.recipient.text.prefix(40)): \(outcome(of: part))")
        }
        let rest = recipients.count - shown.count
        return [("sender", push.sender)] + delivery(push.relay, expires: push.expires) + shown
            + (rest > 0 ? [("", "and \(rest) more recipients")] : []) + traceRow
    }

    private func delivery(_ record: any DeliveryRecord, expires: UnixMilliseconds) -> [(String, String)] {
        var rows = [("attempts", "\(record.attempts)")]
        if record.state == .held {
            rows.append(("held", "nothing goes out before it is released or approved: msi outbox list"))
        } else if let next = record.nextAttempt {
            rows.append(record.lease == nil ? ("next attempt", next.text) : ("in flight", "until \(next.text)"))
        }
        return rows + [("expires", expires.text)]
    }

    private func outcome(of part: some DeliveryPart) -> String {
        let name = part.name.map { " by FCM as \($0)" } ?? ""
        let time = part.acceptedAt.map { " at \($0.text)" } ?? ""
        // Only a failure is the error's doing: a recall or the expiry has ended the others.
        let label = part.state == .failed ? ": " : "; last error: "
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
        } + [missingRelayLines].compactMap(\.self)
    }

    /// Why there is no line of the relay, although a relay had the message.
    private var missingRelayLines: String? {
        let record = life.message?.relay as (any DeliveryRecord)? ?? life.push?.relay
        guard isLogKnown, let record, record.attempts > 0,
            !life.log.contains(where: { $0.service == ServiceEntry.fcmRelay.executable })
        else { return nil }
        guard isAccepted(record) else { return "(no line of the relay: its log may be on another machine, or trimmed)" }
        return "(no line of the relay: it logs what FCM accepts only at MSI_LOG_LEVEL=debug)"
    }

    /// Whether FCM has accepted every part that was tried, and at least one.
    private func isAccepted(_ record: some DeliveryRecord) -> Bool {
        let tried = record.parts.filter { $0.state == .accepted || $0.state == .failed || $0.error != nil }
        return !tried.isEmpty && tried.allSatisfy { $0.state == .accepted }
    }
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
