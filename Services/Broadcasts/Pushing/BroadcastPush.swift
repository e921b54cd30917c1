import FCM
import Base
import Schemas

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
    private let payloadLimit: PayloadLimit

    /// FCM keeps no message longer than four weeks (FCM, "time to live").
    private static let maxLifetime = Milliseconds.seconds(28 * 86_400)

    /// - Parameter payloadLimit: The maximum size of a push.
    /// - Returns: `nil` if all versions have expired.
    init?(of stored: StoredBroadcast, payloadLimit: PayloadLimit = .topic, now: UnixMilliseconds) {
        guard let planned = stored.nextPush, now < stored.lasts else { return nil }
        self.stored = stored
        self.payloadLimit = payloadLimit
        self.planned = planned
        let broadcast = stored.broadcast
        // It has expired before this push, which withdraws the earlier versions: phones may keep these longer.
        isWithdrawal = stored.isOver(at: now)
        guard !isWithdrawal else {
            (due, next) = (planned, nil)
            return
        }
        if now < broadcast.starts {
            // An edit has moved it to a later time, when phones that have not seen the earlier version get it.
            (due, next) = (planned, broadcast.starts)
            return
        }
        // Missed since the service was stopped: the push after an edit, or that at the beginning.
        let first = max(planned, broadcast.starts)
        guard let minutes = broadcast.repetition else {
            (due, next) = (first, nil)
            return
        }
        // What was missed while the service was stopped counts as one push.
        let interval = Milliseconds(rawValue: Int64(minutes) * 60_000)
        let missed = max(0, (now - first).rawValue / interval.rawValue)
        due = first + interval * missed
        let following = due + interval
        next = following < stored.expires ? following : nil
    }

    /// One command for each topic or condition, and the commands of the pop-up. A phone that several of them reach drops the repeats.
    var commands: [LogPush] {
        get throws {
            let broadcast = stored.broadcast
            guard !isWithdrawal else {
                return try withdrawals(WithdrawnBroadcast(broadcast, until: stored.until), to: stored.wholeAudience)
            }
            let audience = BroadcastAudience(broadcast)
            // The next push replaces this one: FCM keeps at most one for a phone that is off. If a hundred wait it discards all that the phone
            // has not got, including those of messages (FCM, "Non-collapsible and collapsible messages").
            let data = BroadcastPushData.broadcast(PhoneBroadcast(broadcast))
            var pushes = commands(
                try data.message, to: audience.recipients, key: "\(broadcast.version)-\(due)",
                expires: min(broadcast.expires, next ?? broadcast.expires, due + Self.maxLifetime))
            if let beginning = beginningOfVersion, stored.keepsPopup != true,
                let popup = try BroadcastPopup(PhoneBroadcast(broadcast), maxBytes: payloadLimit.bytes)
            {
                pushes += commands(
                    popup.message, to: broadcast.popupRecipients, key: "\(broadcast.version)-popup",
                    expires: min(broadcast.expires, beginning + Self.maxLifetime))
            }
            guard stored.leavesAudience == true, let earlier = stored.formerAudience,
                let versions = PhoneBroadcast(broadcast, until: stored.until).earlierVersions
            else { return pushes }
            return pushes + (try withdrawals(versions, to: earlier.subtracting(audience)))
        }
    }

    /// When phones begin to show this version; `nil` if this push is a repetition. Only the first push has a pop-up, so that phones show
    /// it once. The time stays the same while the push waits.
    private var beginningOfVersion: UnixMilliseconds? {
        let broadcast = stored.broadcast
        // A repetition is planned for a later time than either. A version that has not begun is pushed again when it begins.
        guard planned == broadcast.starts || planned == broadcast.changed, next != broadcast.starts else { return nil }
        return max(planned, broadcast.starts)
    }

    private func withdrawals(_ versions: WithdrawnBroadcast, to audience: BroadcastAudience) throws -> [LogPush] {
        commands(
            try BroadcastPushData.withdrawal(versions).message, to: audience.recipients,
            key: "\(versions.version)-over-\(planned)",
            expires: min(versions.expires, planned + Self.maxLifetime))
    }

    private func commands(
        _ message: JSONValue, to recipients: [PushRecipient], key: String, expires: UnixMilliseconds
    ) -> [LogPush] {
        recipients.map { recipient in
            LogPush(
                idempotencyKey: "\(stored.id)-\(key)-\(recipient.key)", recipients: [recipient], fairnessKey: "broadcast",
                message: message, expires: expires)
        }
    }
}
