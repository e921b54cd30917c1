import JSON
import Schemas
import Time

/// One push of a broadcast: at its beginning, at a repetition, after an edit, or for its withdrawal. Pure: the same broadcast and time
/// make the same commands, so that a repeated command is the same push.
struct BroadcastPush: Sendable {
    private let stored: StoredBroadcast
    /// The due time in the store. It stays the same while the push waits; ``due`` may be a later repetition.
    private let planned: UnixMilliseconds
    /// When it was due.
    let due: UnixMilliseconds
    /// When the next one is due; `nil` for no further one.
    let next: UnixMilliseconds?
    /// Whether it removes the broadcast from phones.
    let isWithdrawal: Bool

    /// FCM keeps no message longer than four weeks (FCM, "time to live").
    private static let maxLifetime = Milliseconds.seconds(28 * 86_400)

    /// - Returns: `nil` if all versions have expired meanwhile.
    init?(of stored: StoredBroadcast, now: UnixMilliseconds) {
        guard let planned = stored.nextPush, now < stored.lasts else { return nil }
        self.stored = stored
        self.planned = planned
        let broadcast = stored.broadcast
        // One that has expired before this push withdraws the former versions, which phones may have longer.
        isWithdrawal = stored.isOver(at: now)
        guard !isWithdrawal else {
            (due, next) = (planned, nil)
            return
        }
        if now < broadcast.starts {
            // An edit has moved it to a later time, when phones that have not seen the former version get it.
            (due, next) = (planned, broadcast.starts)
            return
        }
        // Missed since the service was stopped: the push after an edit, or that at the beginning.
        let first = max(planned, broadcast.starts)
        guard let minutes = broadcast.repetition else {
            (due, next) = (first, nil)
            return
        }
        // After a pause of the service, what was missed counts as one push.
        let interval = Milliseconds(rawValue: Int64(minutes) * 60_000)
        let missed = max(0, (now - first).rawValue / interval.rawValue)
        due = first + interval * missed
        let following = due + interval
        next = following < stored.expires ? following : nil
    }

    /// One command for each topic. A phone of several channels drops the repeats.
    var commands: [LogPush] {
        get throws {
            let broadcast = stored.broadcast
            guard !isWithdrawal else {
                return try withdrawals(WithdrawnBroadcast(broadcast, until: stored.until), to: stored.wholeAudience)
            }
            let audience = BroadcastAudience(broadcast)
            // The next push replaces this one: FCM keeps at most one for a phone that is off. Of a hundred it discards all that the phone
            // has not got, also those of messages (FCM, "Non-collapsible and collapsible messages").
            let pushes = try commands(
                .broadcast(PhoneBroadcast(broadcast)), to: audience, key: "\(broadcast.version)-\(due)",
                expires: min(broadcast.expires, next ?? broadcast.expires, due + Self.maxLifetime))
            guard stored.leavesAudience == true, let former = stored.formerAudience,
                let versions = PhoneBroadcast(broadcast, until: stored.until).formerVersions
            else { return pushes }
            return pushes + (try withdrawals(versions, to: former.subtracting(audience)))
        }
    }

    private func withdrawals(_ versions: WithdrawnBroadcast, to audience: BroadcastAudience) throws -> [LogPush] {
        try commands(
            .withdrawal(versions), to: audience, key: "\(versions.version)-over-\(planned)",
            expires: min(versions.expires, planned + Self.maxLifetime))
    }

    private func commands(
        _ content: BroadcastPushData, to audience: BroadcastAudience, key: String, expires: UnixMilliseconds
    ) throws -> [LogPush] {
        let message = Self.message(
            .object(try content.data.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }))
        return audience.recipients.map { recipient in
            LogPush(
                idempotencyKey: "\(stored.id)-\(key)-\(recipient.key)", recipients: [recipient.to], fairnessKey: "broadcast",
                message: message, expires: expires)
        }
    }

    /// The FCM message: only data, which the app shows itself when it is started. To iOS such a message must have APNs' priority 5. To
    /// Android it is not urgent either, also for a downtime: Android lowers the priority of apps whose urgent messages show no
    /// notification, and then Alerts come late as well. An app that is started asks the hub anyway.
    private static func message(_ data: JSONValue) -> JSONValue {
        [
            "data": data,
            "android": ["priority": "NORMAL"],
            "apns": [
                "headers": ["apns-priority": "5", "apns-push-type": "background"],
                "payload": ["aps": ["content-available": 1]],
            ],
        ]
    }
}
