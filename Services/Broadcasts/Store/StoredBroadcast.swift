import Base
import Schemas
import Store

/// A broadcast as it is stored.
struct StoredBroadcast: StoredDocument, Hashable {
    let id: Int64
    private(set) var broadcast: Broadcast
    /// The broadcast's own, for the index.
    private(set) var expires: UnixMilliseconds
    /// When the last version that phones may have expires, if that is after ``expires``, for the index.
    private(set) var until: UnixMilliseconds?
    /// When the outbox is to get the next push of it: its beginning, a repetition, or its withdrawal; `nil` for no further one.
    private(set) var nextPush: UnixMilliseconds?
    /// The audiences of all earlier versions that phones may have; `nil` if there is no such version.
    private(set) var formerAudience: BroadcastAudience?
    /// Whether the next push also withdraws the earlier versions from audiences that the present one does not reach. Absent for no.
    private(set) var leavesAudience: Bool?
    /// The ids of the latest pushes in the outbox, one for each topic.
    private(set) var lastPushes: [ObjectID]?
    /// The outbox's pushes with the pop-up of the present version, or of an earlier one that says the same (``keepsPopup``).
    private(set) var popups: [ObjectID]?
    /// The pop-ups of earlier versions that may still wait in the outbox. They are to be recalled.
    private(set) var formerPopups: [ObjectID]?
    /// Whether the pop-up of an earlier version says the same as that of the present one, which then needs none. Absent for no.
    private(set) var keepsPopup: Bool?
    /// When it was restored from a backup (``BroadcastHold``). Until one of its pushes is released or it is edited, the outbox holds them.
    private(set) var restored: UnixMilliseconds?
    let sender: String
    let idempotencyKey: String?
    /// The hash of the draft that made the first version: it identifies a repeated command.
    let draftHash: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case broadcast, expires, until, sender, restored, popups
        case nextPush = "next_push"
        case formerAudience = "former_audience"
        case leavesAudience = "leaves_audience"
        case lastPushes = "last_pushes"
        case formerPopups = "former_popups"
        case keepsPopup = "keeps_popup"
        case idempotencyKey = "idempotency_key"
        case draftHash = "draft_hash"
    }

    init(_ broadcast: Broadcast, by command: AddBroadcast) throws {
        id = broadcast.id
        self.broadcast = broadcast
        expires = broadcast.expires
        nextPush = broadcast.starts
        sender = broadcast.sender
        idempotencyKey = command.idempotencyKey
        draftHash = try Self.hash(of: command.draft)
    }

    static func hash(of draft: BroadcastDraft) throws -> String { StableHash.text(of: try JSONCoder.encode(draft)) }

    /// When the last version that phones may have expires.
    var lasts: UnixMilliseconds { max(expires, until ?? expires) }

    /// The audiences of all versions that phones may have, and of the present one.
    var wholeAudience: BroadcastAudience { BroadcastAudience(broadcast).union(formerAudience) }

    /// Whether it is over for phones: it has expired or was withdrawn.
    func isOver(at now: UnixMilliseconds) -> Bool { broadcast.withdrawn != nil || expires <= now }

    /// Takes over another version. Phones that may have an earlier one learn of it at once, others when it begins.
    mutating func replace(by version: Broadcast, at now: UnixMilliseconds) {
        if formerAudience != nil || broadcast.pushed != nil || broadcast.starts <= now {
            until = lasts > version.expires ? lasts : nil
            formerAudience = wholeAudience
            leavesAudience = true
            nextPush = now
        } else {
            nextPush = version.withdrawn == nil ? version.starts : nil
        }
        if let popups = self.popups, version.withdrawn == nil,
            BroadcastPopup.isSame(PhoneBroadcast(version), as: PhoneBroadcast(broadcast))
        {
            keepsPopup = popups.isEmpty ? nil : true
        } else {
            dropPopups(popups ?? [])
            (popups, keepsPopup) = (nil, nil)
        }
        broadcast = version
        expires = version.expires
        restored = nil
    }

    /// Notes pop-ups of an earlier version that may still wait in the outbox.
    mutating func dropPopups(_ pushes: [ObjectID]) {
        guard !pushes.isEmpty else { return }
        formerPopups = (formerPopups ?? []) + pushes.filter { !(formerPopups ?? []).contains($0) }
    }

    /// Notes pop-ups of earlier versions that have ended: recalled or sent.
    mutating func noteRecall(of pushes: [ObjectID]) {
        let rest = (formerPopups ?? []).filter { !pushes.contains($0) }
        formerPopups = rest.isEmpty ? nil : rest
    }

    /// Notes what was given to the outbox.
    ///
    /// - Parameters:
    ///   - next: When the next push is due.
    ///   - pushes: The pushes that the outbox has taken.
    ///   - popups: Those of them with a pop-up.
    ///   - isWithdrawal: Whether they withdraw the broadcast. That is not counted.
    ///   - refusal: Why the outbox has refused one.
    mutating func notePush(
        next: UnixMilliseconds?, pushes: [ObjectID], popups: [ObjectID] = [], isWithdrawal: Bool, refusal: String?,
        at now: UnixMilliseconds
    ) {
        nextPush = next
        leavesAudience = nil
        lastPushes = pushes
        if !popups.isEmpty { self.popups = popups }
        guard !isWithdrawal || refusal != nil || broadcast.pushed != nil else { return }
        var pushed = broadcast.pushed ?? Broadcast.Pushed(count: 0, last: now)
        if !isWithdrawal {
            pushed.count += pushes.isEmpty ? 0 : 1
            pushed.last = now
        }
        pushed.failed = refusal
        broadcast.pushed = pushed
    }

    /// Notes that the operator has released a push after the restore.
    mutating func noteRelease() { restored = nil }

    /// Clears the next push: all pushes are done.
    mutating func noteEnd() {
        nextPush = nil
        leavesAudience = nil
    }
}

/// The FCM topics and conditions that reach the phones of a broadcast, or of several versions of one.
struct BroadcastAudience: Codable, Hashable, Sendable {
    private(set) var topics: [String]
    private(set) var conditions: [String]

    /// The audience of one version.
    init(_ broadcast: Broadcast) {
        conditions = broadcast.recipients.filter { $0.field == .condition }.map(\.text)
        topics = broadcast.recipients.filter { $0.field == .topic }.map(\.text)
    }

    private init(topics: [String], conditions: [String]) {
        self.topics = topics
        self.conditions = conditions
    }

    func union(_ other: BroadcastAudience?) -> BroadcastAudience {
        guard let more = other?.subtracting(self) else { return self }
        return BroadcastAudience(topics: topics + more.topics, conditions: conditions + more.conditions)
    }

    func subtracting(_ other: BroadcastAudience) -> BroadcastAudience {
        BroadcastAudience(
            topics: topics.filter { !other.topics.contains($0) },
            conditions: conditions.filter { !other.conditions.contains($0) })
    }

    var recipients: [PushRecipient] { topics.map { .topic($0) } + conditions.map { .condition($0) } }
}

extension PushRecipient {
    /// A short name for idempotency keys.
    var key: String {
        guard case .condition(let condition) = self else { return text }
        return "condition-\(StableHash.text(of: condition.utf8))"
    }
}
