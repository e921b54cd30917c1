/// Some of the transports.
package struct PushTransports: OptionSet, Hashable, Sendable {
    package static let fcm = PushTransports(.fcm)
    package static let webpush = PushTransports(.webpush)

    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package init(_ transport: PushTransport) {
        rawValue =
            switch transport {
            case .fcm: 1
            case .webpush: 2
            }
    }

    /// In the order of the enumeration.
    package var all: [PushTransport] { PushTransport.allCases.filter { contains(PushTransports($0)) } }
}

// When the parts of a record are due. Those for FCM are due at its `nextAttempt`, and those for Web Push at its `webpushAttempt`, so that
// neither transport waits for the other.

extension DeliveryRecord {
    /// The transports of the parts that are still to be sent.
    package var pendingTransports: PushTransports {
        var found: PushTransports = []
        for part in parts where part.state == .pending {
            found.formUnion(transports(of: part))
        }
        return found
    }

    /// The positions of the parts that a transport is still to send.
    package func pendingParts(of transport: PushTransport) -> [Int] {
        let transport = PushTransports(transport)
        return parts.indices.filter { parts[$0].state == .pending && transports(of: parts[$0]).contains(transport) }
    }

    /// When the first part is due; `nil` once the state is final.
    package var firstAttempt: UnixMilliseconds? {
        nextAttempt.map { min($0, webpushAttempt ?? $0) }
    }

    /// Makes all parts due that are still to be sent.
    ///
    /// - Parameter expires: The expiry of the message or push.
    package mutating func setDue(_ due: UnixMilliseconds, expires: UnixMilliseconds) {
        let pending = pendingTransports
        nextAttempt = pending == .webpush ? expires : due
        webpushAttempt = pending.contains(.webpush) ? due : nil
    }

    /// Leaves no part due until it expires.
    package mutating func hold(until expires: UnixMilliseconds) {
        nextAttempt = expires
        webpushAttempt = nil
    }

    /// Takes the lease, or another one in its place. What becomes due again at the end of the lease does so at the end of the new one.
    package mutating func extendLease(to new: Lease) {
        let end = lease?.until
        if webpushAttempt == nil || nextAttempt == end { nextAttempt = new.until }
        if let webpushAttempt, webpushAttempt == end { self.webpushAttempt = new.until }
        lease = new
    }

    /// Ends the lease before its time. What would become due at its end is due now.
    package mutating func releaseLease(at now: UnixMilliseconds) {
        let end = lease?.until
        if webpushAttempt == nil || nextAttempt == end { nextAttempt = now }
        if let webpushAttempt, webpushAttempt == end { self.webpushAttempt = now }
        lease = nil
    }
}
