import JSON
import Schemas
import Time

/// One push of a broadcast: at its beginning, at a repetition, or for its withdrawal. Pure: the same broadcast and time make the
/// same commands, so that a repeated command is the same push.
struct BroadcastPush: Sendable {
    let broadcast: Broadcast
    /// When it was due.
    let due: UnixMilliseconds
    /// When the next one is due; `nil` for no further one.
    let next: UnixMilliseconds?

    /// FCM keeps no message longer than four weeks (FCM, "time to live").
    private static let maxLifetime = Milliseconds.seconds(28 * 86_400)

    /// - Returns: `nil` if the broadcast has expired meanwhile.
    init?(of stored: StoredBroadcast, now: UnixMilliseconds) {
        guard let planned = stored.nextPush, now < stored.expires else { return nil }
        broadcast = stored.broadcast
        guard broadcast.withdrawn == nil, let minutes = broadcast.repetition else {
            (due, next) = (planned, nil)
            return
        }
        // After a pause of the service, what was missed counts as one push.
        let interval = Milliseconds(rawValue: Int64(minutes) * 60_000)
        let missed = max(0, (now - planned).rawValue / interval.rawValue)
        due = planned + interval * missed
        let following = due + interval
        next = following < stored.expires ? following : nil
    }

    /// One command for each topic. A phone of several channels drops the repeats.
    var commands: [LogPush] {
        get throws {
            let content: BroadcastPushData =
                broadcast.withdrawn == nil
                ? .broadcast(PhoneBroadcast(broadcast)) : .withdrawal(WithdrawnBroadcast(broadcast))
            let message = Self.message(
                .object(try content.data.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }),
                isUrgent: broadcast.type == .downtime)
            let expires = min(broadcast.expires, due + Self.maxLifetime)
            return recipients.map { recipient in
                LogPush(
                    idempotencyKey: "\(broadcast.id)-\(broadcast.version)-\(due)-\(recipient.key)", recipients: [recipient.to],
                    fairnessKey: "broadcast", message: message, expires: expires)
            }
        }
    }

    private var recipients: [(key: String, to: PushRecipient)] {
        if let condition = broadcast.condition { return [("condition", .condition(condition))] }
        return (broadcast.channels?.map(\.description) ?? [BroadcastPushData.generalTopic]).map { ($0, .topic($0)) }
    }

    /// The FCM message: only data, which the app shows itself. To iOS such a message must have APNs' priority 5.
    private static func message(_ data: JSONValue, isUrgent: Bool) -> JSONValue {
        [
            "data": data,
            "android": ["priority": .string(isUrgent ? "HIGH" : "NORMAL")],
            "apns": [
                "headers": ["apns-priority": "5", "apns-push-type": "background"],
                "payload": ["aps": ["content-available": 1]],
            ],
        ]
    }
}
