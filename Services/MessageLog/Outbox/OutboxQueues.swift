import Archive
import Schemas

/// Some of the queues of the outbox.
struct OutboxQueues: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ queue: OutboxQueue) {
        rawValue = 1 << queue.rawValue
    }

    /// Those of Web Push.
    static let webpush = OutboxQueues([.fanOuts, .blocks] as [OutboxQueue])

    init(_ queues: [OutboxQueue]) {
        self = queues.reduce(into: []) { $0.insert(OutboxQueues($1)) }
    }
}

extension OutboxItem {
    /// The queue in which its parts for a transport wait.
    func queue(of transport: PushTransport) -> OutboxQueue {
        switch (transport, self) {
        case (.fcm, _): .fcm
        case (.webpush, .message): .fanOuts
        case (.webpush, .push): .blocks
        }
    }

    /// The queues in which it waits, now or until a later time. A message without any part waits in that of FCM.
    var pendingQueues: OutboxQueues { queues(of: record.pendingTransports) }

    /// The queues in which it is due, leased or not.
    func dueQueues(at now: UnixMilliseconds) -> OutboxQueues { queues(of: record.dueTransports(at: now)) }

    private func queues(of transports: PushTransports) -> OutboxQueues {
        transports.isEmpty ? OutboxQueues(.fcm) : OutboxQueues(transports.all.map(queue(of:)))
    }
}

extension DeliveryRecord {
    /// The transports whose parts are due: their time has come, or a lease for them runs.
    func dueTransports(at now: UnixMilliseconds) -> PushTransports {
        let pending = pendingTransports
        // By FCM alone, what was leased is due.
        guard let webpushAttempt, let nextAttempt, pending.contains(.webpush) else { return pending }
        var due = pending
        if nextAttempt > now, nextAttempt != lease?.until { due.remove(.fcm) }
        if webpushAttempt > now, webpushAttempt != lease?.until { due.remove(.webpush) }
        return due
    }

    /// Takes the lease for the turn of a new item. What is due in other queues stays so.
    mutating func takeLease(_ lease: Lease, for asked: OutboxQueues) {
        self.lease = lease
        if webpushAttempt == nil || asked.contains(OutboxQueues(.fcm)) { nextAttempt = lease.until }
        if webpushAttempt != nil, !asked.isDisjoint(with: .webpush) { webpushAttempt = lease.until }
    }
}

/// A value for each queue.
struct PerQueue<Value: Sendable>: Sendable {
    private var fcm: Value
    private var fanOuts: Value
    private var blocks: Value

    init(_ value: Value) {
        fcm = value
        fanOuts = value
        blocks = value
    }

    // The values are changed in place: a copy of the items in flight would be a copy of all of them.
    subscript(queue: OutboxQueue) -> Value {
        _read {
            switch queue {
            case .fcm: yield fcm
            case .fanOuts: yield fanOuts
            case .blocks: yield blocks
            }
        }
        _modify {
            switch queue {
            case .fcm: yield &fcm
            case .fanOuts: yield &fanOuts
            case .blocks: yield &blocks
            }
        }
    }
}

/// A value for each transport.
struct PerTransport<Value: Sendable>: Sendable {
    private var fcm: Value
    private var webpush: Value

    init(_ value: Value) {
        fcm = value
        webpush = value
    }

    subscript(transport: PushTransport) -> Value {
        get {
            switch transport {
            case .fcm: fcm
            case .webpush: webpush
            }
        }
        set {
            switch transport {
            case .fcm: fcm = newValue
            case .webpush: webpush = newValue
            }
        }
    }
}
