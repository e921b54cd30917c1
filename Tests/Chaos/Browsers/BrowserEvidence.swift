import TestSupport

/// What browsers have got at the end of a run.
struct BrowserEvidence: Sendable {
    struct Browser: Sendable {
        /// The number of its push service.
        let service: Int
        /// The topic keys of the subjects whose Alerts it gets.
        let alerts: Set<String>
        /// Whether its push service has ended its subscription.
        var isEnded = false
        /// In order.
        var arrivals: [PushArrival] = []
        /// When pushes to it were answered 410, in Unix milliseconds.
        var refusals: [Int64] = []
    }

    var browsers: [Browser]
    var faults: [InjectedPushServiceFault] = []
    /// The number of pushes that no browser could decrypt.
    var unreadable = 0
    /// When everything had arrived, or the wait for it was over, in Unix milliseconds.
    var settled: Int64
}

/// What became of each Alert for each browser that is subscribed to its subject. Pure.
///
/// It must arrive if the Web Push service has taken it, which the state of its component in our archive says. The state of the message does
/// not count, since FCM has a part in it.
struct BrowserCount: Sendable {
    struct Push: Hashable, Sendable {
        let msiKey: String
        /// The number of the browser.
        let browser: Int
    }

    private(set) var delivered = 0
    /// Those to browsers whose subscription had ended.
    private(set) var gone = 0
    /// Those that may have expired on their way. The archive says only that they were on it.
    private(set) var expired = 0
    /// Those that must arrive, and have not.
    private(set) var missing: [Push] = []

    var accepted: Int { delivered + gone + expired + missing.count }

    /// What expires later than this after the run cannot have expired during it, even while the machine's clock was an hour ahead, in
    /// milliseconds.
    private static let margin: Int64 = 2 * 3_600_000

    init(_ evidence: BrowserEvidence, archive: [String: ArchivedMessage]) {
        let messages = Dictionary(grouping: archive.values, by: \.topicKey)
        for (number, browser) in evidence.browsers.enumerated() {
            let arrived = Set(browser.arrivals.lazy.map(\.msiKey))
            for message in browser.alerts.flatMap({ messages[$0] ?? [] }) {
                if arrived.contains(message.msiKey) {
                    delivered += 1
                } else if message.webpush != "accepted" || message.state == "recalled" {
                    continue
                } else if browser.isEnded {
                    gone += 1
                } else if message.expires <= evidence.settled + Self.margin {
                    expired += 1
                } else {
                    missing.append(Push(msiKey: message.msiKey, browser: number))
                }
            }
        }
    }
}
