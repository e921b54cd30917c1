import TestSupport
import Testing

@testable import Chaos

/// The checks of the pushes to browsers of a chaos run, on evidence made by the tests.
@Suite("The verdict about the browsers of a chaos run")
struct BrowserVerdictTests {
    /// In Unix milliseconds.
    private static let start: Int64 = 1_795_262_400_000
    private static let topic = "channel-area-subject"

    private func message(
        _ msiKey: String = "m", state: String = "relayed", webpush: String? = "accepted", lifetime: Int64 = 86_400_000
    ) -> ArchivedMessage {
        ArchivedMessage(
            msiKey: msiKey, topicKey: Self.topic, due: Self.start, expires: Self.start + lifetime, state: state, components: [],
            webpush: webpush)
    }

    /// - Parameter arrivals: Those of the message, in milliseconds after its time.
    private func browser(_ arrivals: Int64..., msiKey: String = "m") -> BrowserEvidence.Browser {
        BrowserEvidence.Browser(
            service: 0, alerts: [Self.topic],
            arrivals: arrivals.map { PushArrival(msiKey: msiKey, received: Self.start + $0) })
    }

    private func verdict(
        _ browsers: [BrowserEvidence.Browser], _ messages: [ArchivedMessage], approved: Set<String> = [],
        serviceFaults: [InjectedPushServiceFault] = [], _ injectedFaults: [InjectedFault] = []
    ) -> BrowserVerdict {
        BrowserVerdict(
            BrowserEvidence(browsers: browsers, faults: serviceFaults, settled: Self.start + 100_000),
            archive: Dictionary(uniqueKeysWithValues: messages.map { ($0.msiKey, $0) }), approved: approved,
            injectedFaults: injectedFaults)
    }

    private func fault(_ part: Part, _ action: Fault.Action, after delay: Int64, for length: Int64 = 500) -> InjectedFault {
        InjectedFault(part: part, action: action, began: Self.start + delay, ended: Self.start + delay + length)
    }

    @Test("An Alert that is on each browser once is no problem, and one that is missing on a browser is lost")
    func delivery() {
        let complete = verdict([browser(100), browser(200)], [message()])
        #expect(complete.summary == "browsers: accepted=2 delivered=2 gone=0 expired=0 lost=0 doubled=0")
        #expect(complete.problems == [])
        let incomplete = verdict([browser(100), browser()], [message()])
        #expect(incomplete.summary == "browsers: accepted=2 delivered=1 gone=0 expired=0 lost=1 doubled=0")
        #expect(incomplete.problems.count == 1 && incomplete.problems.first?.contains("m at browser 1") == true)
        // What FCM does with it has nothing to do with browsers.
        #expect(verdict([browser(100), browser()], [message(state: "expired")]).lost == 1)
    }

    @Test("What has expired or was recalled, and what the Web Push service has not taken, need not arrive")
    func notRequired() {
        let delivered = message("delivered")
        func verdict(beside other: ArchivedMessage) -> BrowserVerdict {
            self.verdict([browser(100, msiKey: "delivered")], [delivered, other])
        }
        let expired = verdict(beside: message(lifetime: 300_000))
        #expect(expired.summary == "browsers: accepted=2 delivered=1 gone=0 expired=1 lost=0 doubled=0")
        for other in [
            message(state: "recalled"), message(state: "expired", webpush: "expired"), message(state: "held", webpush: "pending"),
            message(webpush: nil),
        ] {
            let others = verdict(beside: other)
            #expect(others.summary == "browsers: accepted=1 delivered=1 gone=0 expired=0 lost=0 doubled=0")
            #expect(others.problems == [])
        }
    }

    @Test("Pushes that nobody can read, that are for others, too early or without approval, and a run without any are problems")
    func wrongContent() {
        #expect(verdict([browser()], []).problems.count == 1)
        #expect(verdict([browser(-1)], [message()]).problems.count == 1)
        let stepped = verdict([browser(-1)], [message()], [fault(.machine, .setClockBack, after: -500)])
        #expect(stepped.problems == [])
        // Unknown to the archive.
        #expect(verdict([browser(100)], []).problems.count == 2)
        let elsewhere = BrowserEvidence.Browser(
            service: 0, alerts: [], arrivals: [PushArrival(msiKey: "m", received: Self.start)])
        #expect(verdict([browser(100), elsewhere], [message()]).problems.count == 1)
        for state in ["held", "recalled"] {
            #expect(verdict([browser(100)], [message(state: state)]).problems.count == 1)
            #expect(verdict([browser(100)], [message(state: state)], approved: ["m"]).problems == [])
        }
        let evidence = BrowserEvidence(browsers: [browser(100)], unreadable: 1, settled: Self.start)
        let unreadable = BrowserVerdict(evidence, archive: ["m": message()], approved: [], injectedFaults: [])
        #expect(unreadable.problems.count == 1)
    }

    @Test("A second copy needs a fault that can lose an answer, while the first one was in flight")
    func doubled() {
        func problems(_ fault: InjectedFault?) -> Int {
            let copies = verdict([browser(20_000, 80_000)], [message()], fault.map { [$0] } ?? [])
            #expect(copies.doubled == 1 && copies.lost == 0)
            return copies.problems.count
        }
        #expect(problems(nil) == 1)
        for part in Part.webPush + Part.messageLogs + [.database] {
            #expect(problems(fault(part, .kill, after: 20_100)) == 0)
            #expect(problems(fault(part, .freeze, after: 10_000)) == 0)
            #expect(problems(fault(part, .restart, after: 20_100)) == 1)
            #expect(problems(fault(part, .kill, after: 60_000)) == 1)
        }
        #expect(problems(fault(.machine, .cutPower, after: 20_100)) == 0)
        #expect(problems(fault(.machine, .fillDisk, after: 20_100)) == 1)
        #expect(problems(fault(.emulator, .kill, after: 20_100)) == 1)
    }

    @Test("A push service explains second copies of the pushes to its browsers, if it loses answers or hangs")
    func doubledByPushService() {
        func problems(service: Int = 0, _ action: PushServiceFault.Action, after delay: Int64 = 19_000) -> Int {
            let fault = InjectedPushServiceFault(
                service: service, action: action, began: Self.start + delay, ended: Self.start + delay + 2_000)
            return verdict([browser(20_000, 50_000)], [message()], serviceFaults: [fault]).problems.count
        }
        #expect(problems(.loseAnswers) == 0 && problems(.hang) == 0)
        for action in [PushServiceFault.Action.throttle, .fail, .endSubscriptions] { #expect(problems(action) == 1) }
        #expect(problems(service: 1, .loseAnswers) == 1)
        #expect(problems(.loseAnswers, after: 0) == 1)
    }

    @Test("After the end of a subscription nothing more is pushed to it, unless a fault kept the hub from storing the end")
    func ended() {
        func verdict(_ refusals: Int64..., faults: [InjectedFault] = []) -> BrowserVerdict {
            var gone = browser()
            gone.isEnded = true
            gone.refusals = refusals.map { Self.start + $0 }
            return self.verdict([browser(100), gone], [message()], faults)
        }
        let once = verdict(100, 400, 30_000)
        #expect(once.summary == "browsers: accepted=2 delivered=1 gone=1 expired=0 lost=0 doubled=0")
        #expect(once.problems == [])
        #expect(verdict(100, 400, 90_000).problems.count == 1)
        for part in Part.webPush + [.database, .machine] {
            #expect(verdict(100, 400, 90_000, faults: [fault(part, .kill, after: 600)]).problems == [])
            #expect(verdict(100, 400, 90_000, faults: [fault(part, .kill, after: 60_000)]).problems.count == 1)
        }
        #expect(verdict(100, 400, 90_000, faults: [fault(.emulator, .kill, after: 600)]).problems.count == 1)
    }

    @Test("The faults of push services follow from the seed, and a run of a minute has each of them at each push service")
    func schedule() {
        for seed in 1...50 as ClosedRange<UInt64> {
            let length = Duration.seconds(60)
            let faults = PushServiceSchedule(seed: seed, length: length, services: 2).faults
            #expect(PushServiceSchedule(seed: seed, length: length, services: 2).faults == faults)
            for service in 0..<2 {
                let own = faults.filter { $0.service == service }
                #expect(Set(own.map(\.action)) == Set(PushServiceFault.Action.allCases))
                for (fault, next) in zip(own, own.dropFirst()) { #expect(fault.at + fault.length < next.at) }
                #expect(own.allSatisfy { $0.at + $0.length <= length })
            }
        }
        #expect(PushServiceSchedule(seed: 1, length: .seconds(60), services: 0).faults == [])
    }
}
