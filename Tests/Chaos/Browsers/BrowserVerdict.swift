import ServiceKit
import TestSupport

/// The conclusion about the pushes to browsers. Pure.
///
/// Each Alert that the Web Push service has taken is on each browser that is subscribed to its subject, unless the subscription or the
/// Alert has ended. A browser has it twice only if an answer may have been lost: that of its push service, or that of a process which was
/// killed, frozen or without power. What was recalled before its approval is on no browser.
struct BrowserVerdict: Sendable {
    private(set) var problems: [String] = []
    /// Alerts that a browser has more than once.
    private(set) var doubled = 0
    private let count: BrowserCount

    var lost: Int { count.missing.count }

    /// The line for the report.
    var summary: String {
        "browsers: accepted=\(count.accepted) delivered=\(count.delivered) gone=\(count.gone) expired=\(count.expired) "
            + "lost=\(lost) doubled=\(doubled)"
    }

    private static let maxNamed = 5
    /// How long before its arrival a push may have been on its way, in milliseconds: the hub's wait for a push service, and a second more.
    private static let timeBefore: Int64 = 11_000
    /// How long after its arrival its outcome may be on its way to the archive, in milliseconds: as long as the lease of its block.
    private static let timeAfter = Int64(DeliveryTimes.leaseDuration / .milliseconds(1))

    /// - Parameters:
    ///   - archive: The messages of the archive, by their keys.
    ///   - approved: The keys of the messages that were approved.
    init(
        _ evidence: BrowserEvidence, archive: [String: ArchivedMessage], approved: Set<String>, injectedFaults: [InjectedFault]
    ) {
        count = BrowserCount(evidence, archive: archive)
        note(count.missing.map { "\($0.msiKey) at browser \($0.browser)" }, "pushes are lost")
        if count.delivered == 0 { problems.append("no push has reached a browser") }
        if evidence.unreadable > 0 { problems.append("\(evidence.unreadable) pushes cannot be decrypted, or are not understood") }
        judgeContent(evidence, archive, approved)
        judgeTimes(evidence, archive, MachineClock(injectedFaults))
        judgeCopies(evidence, injectedFaults)
        judgeRefusals(evidence, injectedFaults)
    }

    private mutating func note(_ places: [String], _ problem: String) {
        guard !places.isEmpty else { return }
        problems.append("browsers: \(places.count) \(problem), such as \(places.sorted().prefix(Self.maxNamed))")
    }

    /// Checks whether browsers have only what they are subscribed to, and nothing that was held until the end.
    private mutating func judgeContent(
        _ evidence: BrowserEvidence, _ archive: [String: ArchivedMessage], _ approved: Set<String>
    ) {
        var (strange, held): (Set<String>, Set<String>) = ([], [])
        for (number, browser) in evidence.browsers.enumerated() {
            for arrival in browser.arrivals {
                guard let message = archive[arrival.msiKey], browser.alerts.contains(message.topicKey) else {
                    strange.insert("\(arrival.msiKey) at browser \(number)")
                    continue
                }
                // What was recalled after its approval may have been under way.
                let wasNeverApproved = ["held", "recalled"].contains(message.state) && !approved.contains(message.msiKey)
                if wasNeverApproved { held.insert(message.msiKey) }
            }
        }
        note(Array(strange), "pushes are not of the browser's subjects, or not in the archive")
        note(Array(held), "messages were pushed without their approval")
    }

    /// Checks whether pushes came after their messages were due.
    private mutating func judgeTimes(_ evidence: BrowserEvidence, _ archive: [String: ArchivedMessage], _ clock: MachineClock) {
        var first: [String: Int64] = [:]
        for arrival in evidence.browsers.lazy.flatMap(\.arrivals) {
            first[arrival.msiKey] = min(first[arrival.msiKey] ?? .max, arrival.received)
        }
        let early = archive.values.filter { message in
            first[message.msiKey].map { $0 < message.due } == true && !clock.wasSet(during: message)
        }
        note(early.map(\.msiKey), "messages were pushed before they were due")
    }

    /// Checks whether each second copy is explained by a fault between the two.
    private mutating func judgeCopies(_ evidence: BrowserEvidence, _ injectedFaults: [InjectedFault]) {
        let possible = injectedFaults.filter(\.canDoubleBrowserPush)
        var unexplained: [String] = []
        for (number, browser) in evidence.browsers.enumerated() {
            let lossy = evidence.faults.filter { $0.service == browser.service && [.loseAnswers, .hang].contains($0.action) }
            for (msiKey, copies) in Dictionary(grouping: browser.arrivals, by: \.msiKey) where copies.count > 1 {
                doubled += 1
                let times = copies.map(\.received).sorted()
                for (time, next) in zip(times, times.dropFirst()) {
                    let inFlight = time - Self.timeBefore...min(next, time + Self.timeAfter)
                    if possible.contains(where: { $0.overlaps(inFlight) }) || lossy.contains(where: { $0.overlaps(inFlight) }) {
                        continue
                    }
                    unexplained.append("\(msiKey) at browser \(number) at \(time) and \(next)")
                }
            }
        }
        note(unexplained, "second copies are unexplained")
    }

    /// Checks whether nothing more was pushed to subscriptions after their end was stored. Pushes that were under way by then do not count,
    /// nor those after a fault that may have prevented the storing.
    private mutating func judgeRefusals(_ evidence: BrowserEvidence, _ injectedFaults: [InjectedFault]) {
        let possible = injectedFaults.filter { Part.webPush.contains($0.part) || [.database, .machine].contains($0.part) }
        var wrong: [String] = []
        for (number, browser) in evidence.browsers.enumerated() {
            guard var known = browser.refusals.first else { continue }
            for time in browser.refusals where time > known + Self.timeAfter {
                let storing = known - 1_000...known + Self.timeAfter
                if !possible.contains(where: { $0.overlaps(storing) }) { wrong.append("browser \(number) at \(time)") }
                known = time
            }
        }
        note(wrong, "pushes went to subscriptions that had ended")
    }
}

extension InjectedFault {
    /// Whether it can cause the loss of the outcome of a push to a browser.
    fileprivate var canDoubleBrowserPush: Bool {
        switch action {
        case .kill, .freeze: Part.pushing.contains(part)
        case .cutPower: true
        case .restart, .replaceEarly, .orphan, .unlinkSocket, .silenceConnections, .cutOff, .hangResolver: false
        case .fillDisk, .setClockBack, .setClockForward: false
        }
    }
}
