/// `webpush.key`: the public key of the hub's pushes, which browsers subscribe with (RFC 8292, VAPID).
package struct ReadWebPushKey: Command, Hashable {
    package static let name = "webpush.key"

    package struct Reply: Codable, Hashable, Sendable {
        /// An uncompressed point of P-256, 65 bytes, in URL-safe Base64.
        package let key: String

        package init(key: String) {
            self.key = key
        }
    }

    package init() {}
}

/// `webpush.rotate`: makes a new key pair, which browsers subscribe with from now on. Subscriptions with earlier keys get pushes that are
/// signed with these, until their apps have noticed the new key and subscribed again.
package struct RotateWebPushKey: Command, Hashable {
    package static let name = "webpush.rotate"
    package typealias Reply = ReadWebPushKey.Reply

    /// Whether to remove the earlier keys, such as after a theft. Their subscriptions end, and the apps subscribe again when they are
    /// opened. The default is `false`.
    package let forget: Bool?

    package init(forget: Bool? = nil) {
        self.forget = forget
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case forget
    }
}

/// `webpush.counts`: how many subscriptions there are, and how their push services do.
package struct CountSubscriptions: Command, Hashable {
    package static let name = "webpush.counts"
    package typealias Reply = SubscriptionCounts

    package init() {}
}

/// The reply to `webpush.counts`. Subscriptions are counted every few minutes, so the numbers may be a little old.
package struct SubscriptionCounts: Codable, Hashable, Sendable {
    /// The number of all subscriptions.
    package let subscriptions: Int
    /// The number of those that have returned the code of their first push.
    package let proven: Int
    /// The push services, the one with most subscriptions first.
    package let hosts: [PushServiceState]

    package init(subscriptions: Int, proven: Int, hosts: [PushServiceState]) {
        self.subscriptions = subscriptions
        self.proven = proven
        self.hosts = hosts
    }
}

/// One push service.
package struct PushServiceState: Codable, Hashable, Sendable {
    /// The host, with the port if it is not 443.
    package let host: String
    package let subscriptions: Int
    /// The number of pushes that wait for their turn.
    package let waiting: Int
    /// Why no pushes are sent to it; absent if they are.
    package let stopped: String?
    /// Its last answer that is not about one subscription (404, 410, 413); absent if there was none since the start of the Web Push service.
    package let lastAnswer: PushServiceAnswer?

    private enum CodingKeys: String, CodingKey {
        case host, subscriptions, waiting, stopped
        case lastAnswer = "last_answer"
    }

    package init(host: String, subscriptions: Int, waiting: Int, stopped: String?, lastAnswer: PushServiceAnswer? = nil) {
        self.host = host
        self.subscriptions = subscriptions
        self.waiting = waiting
        self.stopped = stopped
        self.lastAnswer = lastAnswer
    }
}

/// How a push service has answered a push, or that it has not.
package struct PushServiceAnswer: Codable, Hashable, Sendable {
    package let at: UnixMilliseconds
    /// The error; absent if it has accepted the push.
    package let error: String?

    package init(at: UnixMilliseconds, error: String?) {
        self.at = at
        self.error = error
    }
}
