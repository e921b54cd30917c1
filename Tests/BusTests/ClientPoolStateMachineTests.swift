import Base
import Testing

@testable import Bus

/// Requests are names, and the clock is a number.
@Suite("The state machine of a client with several endpoints")
struct ClientPoolStateMachineTests {
    typealias Pool = ClientPoolStateMachine<String>

    private func pool(_ endpoints: Int, connected: [Int] = [], maxPending: Int = 100) -> Pool {
        var pool = Pool(
            .init(endpoints: endpoints, maxPending: maxPending, connectGrace: 1_000, probeInterval: 500))
        for endpoint in connected { _ = pool.connected(endpoint, now: 0) }
        return pool
    }

    @Test("A reply ends its request, once")
    func aReplyEndsItsRequestOnce() {
        var pool = pool(1, connected: [0])
        #expect(pool.request("a", id: 1, deadline: 5_000, now: 0) == .send(endpoint: 0))
        #expect(pool.reply(id: 1, from: 0) == "a")
        #expect(pool.reply(id: 1, from: 0) == nil)
        #expect(pool.tick(now: 6_000).failed.isEmpty)
    }

    @Test("A request goes to the endpoint with the fewest outstanding requests")
    func leastOutstandingGoesFirst() {
        var pool = pool(3, connected: [0, 1, 2])
        let sent = (1...6).map { pool.request("r", id: $0, deadline: 5_000, now: 0) }
        #expect(Set(sent[0..<3]) == Set((0..<3).map { .send(endpoint: $0) }))
        #expect(Set(sent[3..<6]) == Set((0..<3).map { .send(endpoint: $0) }))
        guard case .send(let endpoint) = sent[4] else { return #expect(Bool(false)) }
        #expect(pool.reply(id: 5, from: endpoint) == "r")
        #expect(pool.request("r", id: 7, deadline: 5_000, now: 0) == .send(endpoint: endpoint))
    }

    @Test("An endpoint that answers unavailable is set aside for a while")
    func whatCannotDoAnythingNowRests() {
        var pool = pool(2, connected: [0, 1])
        pool.rest(0, now: 100)
        for id in UInt64(1)...5 { #expect(pool.request("r", id: id, deadline: 9_000, now: 200) == .send(endpoint: 1)) }
        // If all endpoints rest, the least busy one gets it.
        pool.rest(1, now: 200)
        #expect(pool.request("r", id: 6, deadline: 9_000, now: 300) == .send(endpoint: 0))
        // Its rest is over before the other's.
        #expect(pool.request("r", id: 7, deadline: 9_000, now: 1_150) == .send(endpoint: 0))
        // A new connection resets the state.
        pool.rest(0, now: 2_000)
        _ = pool.disconnected(0)
        _ = pool.connected(0, now: 2_100)
        #expect(pool.request("r", id: 8, deadline: 9_000, now: 2_150) == .send(endpoint: 0))
    }

    @Test("A reply from another endpoint does not end a request")
    func aReplyFromElsewhereEndsNothing() {
        var pool = pool(2, connected: [0, 1])
        guard case .send(let endpoint) = pool.request("a", id: 1, deadline: 5_000, now: 0) else {
            return #expect(Bool(false))
        }
        #expect(pool.reply(id: 1, from: 1 - endpoint) == nil)
        #expect(pool.reply(id: 1, from: endpoint) == "a")
    }

    @Test("Requests wait for a connection in order")
    func requestsWaitForAConnectionInOrder() {
        var pool = pool(2)
        for id in UInt64(1)...3 { #expect(pool.request("r\(id)", id: id, deadline: 5_000, now: 0) == .wait) }
        #expect(pool.connected(1, now: 0).map(\.request) == ["r1", "r2", "r3"])
        #expect(pool.connected(0, now: 0).isEmpty)
        #expect(pool.tick(now: 1_000).failed.isEmpty)
    }

    @Test("A request without a connection fails after the grace time or at its deadline")
    func waitingEndsWithTheGraceOrTheDeadline() {
        var pool = pool(1)
        #expect(pool.request("patient", id: 1, deadline: 5_000, now: 0) == .wait)
        #expect(pool.request("hasty", id: 2, deadline: 200, now: 0) == .wait)
        #expect(pool.nextTick == 200)
        #expect(pool.tick(now: 199).failed.isEmpty)
        #expect(ends(pool.tick(now: 200)) == ["hasty": .notConnected])
        #expect(pool.nextTick == 1_000)
        #expect(ends(pool.tick(now: 1_000)) == ["patient": .notConnected])
        #expect(pool.nextTick == nil)
    }

    @Test("A request whose deadline has passed is not sent")
    func aRequestThatIsTooLateIsNotSent() {
        var pool = pool(1, connected: [0])
        #expect(pool.request("late", id: 1, deadline: 100, now: 100) == .fail(.deadlineExceeded))
    }

    @Test("A lost connection ends the requests that were sent over it")
    func aLostConnectionEndsWhatWasSentThere() {
        var pool = pool(2, connected: [0, 1])
        for id in UInt64(1)...4 { _ = pool.request("r\(id)", id: id, deadline: 5_000, now: 0) }
        #expect(pool.disconnected(0).count == 2)
        #expect(pool.disconnected(0).isEmpty)
        for id in UInt64(5)...9 {
            #expect(pool.request("r", id: id, deadline: 5_000, now: 0) == .send(endpoint: 1))
        }
        #expect(pool.disconnected(1).count == 7)
        #expect(pool.request("r", id: 10, deadline: 5_000, now: 0) == .wait)
    }

    @Test("The limit counts waiting and outstanding requests")
    func theBoundCountsWaitingAndOutstanding() {
        var pool = pool(1, maxPending: 2)
        #expect(pool.request("a", id: 1, deadline: 5_000, now: 0) == .wait)
        #expect(pool.connected(0, now: 0).count == 1)
        #expect(pool.request("b", id: 2, deadline: 5_000, now: 0) == .send(endpoint: 0))
        #expect(pool.request("c", id: 3, deadline: 5_000, now: 0) == .fail(.overloaded))
        #expect(pool.reply(id: 1, from: 0) == "a")
        #expect(pool.request("d", id: 4, deadline: 5_000, now: 0) == .send(endpoint: 0))
    }

    @Test("A cancelled request frees its place")
    func cancellationFreesItsPlace() {
        var pool = pool(1, maxPending: 1)
        #expect(pool.request("a", id: 1, deadline: 5_000, now: 0) == .wait)
        #expect(pool.cancelled(id: 1) == "a")
        #expect(pool.cancelled(id: 1) == nil)
        #expect(pool.request("b", id: 2, deadline: 5_000, now: 0) == .wait)
        #expect(pool.connected(0, now: 0).map(\.request) == ["b"])
        #expect(pool.cancelled(id: 2) == "b")
        #expect(pool.reply(id: 2, from: 0) == nil)
    }

    @Test("A task is told once that its request takes longer")
    func whoeverAskedIsToldOnceThatItTakesLonger() {
        var pool = pool(1, connected: [0])
        _ = pool.request("slow", id: 1, deadline: 5_000, slowAt: 10, now: 0)
        _ = pool.request("quick", id: 2, deadline: 5_000, slowAt: 10, now: 0)
        _ = pool.request("patient", id: 3, deadline: 5_000, now: 0)
        #expect(pool.nextTick == 10)
        #expect(pool.reply(id: 2, from: 0) == "quick")
        #expect(pool.tick(now: 9).slow.isEmpty)
        let actions = pool.tick(now: 10)
        #expect(actions.slow == ["slow"])
        #expect(actions.failed.isEmpty)
        #expect(pool.nextTick == 5_000)
        #expect(pool.tick(now: 20).slow.isEmpty)
        #expect(pool.reply(id: 1, from: 0) == "slow")
    }

    @Test("A deadline ends a request before the endpoint counts as silent")
    func aDeadlineComesBeforePatience() {
        var pool = pool(1)
        _ = pool.request("hasty", id: 1, deadline: 5, slowAt: 10, now: 0)
        let actions = pool.tick(now: 10)
        #expect(ends(actions) == ["hasty": .notConnected])
        #expect(actions.slow.isEmpty)
    }

    @Test("A silent endpoint is set aside, and probed until it answers")
    func aSilentEndpointIsSetAsideAndProbedUntilItAnswers() {
        var pool = pool(2, connected: [0, 1])
        guard case .send(let silent) = pool.request("lost", id: 1, deadline: 100, now: 0) else {
            return #expect(Bool(false))
        }
        let actions = pool.tick(now: 100)
        #expect(ends(actions) == ["lost": .deadlineExceeded])
        #expect(actions.probe == [silent])
        // It gets no more requests, even if the other one is busy.
        for id in UInt64(2)...5 {
            #expect(pool.request("r", id: id, deadline: 5_000, now: 100) == .send(endpoint: 1 - silent))
        }
        #expect(pool.tick(now: 500).probe.isEmpty)
        #expect(pool.nextTick == 600)
        #expect(pool.tick(now: 600).probe == [silent])
        // Any reply is sufficient.
        #expect(pool.reply(id: nil, from: silent) == nil)
        #expect(pool.tick(now: 2_000).probe.isEmpty)
        #expect(pool.request("r", id: 6, deadline: 5_000, now: 2_000) == .send(endpoint: silent))
    }

    @Test("An endpoint that answers other requests is not set aside")
    func anEndpointThatAnswersOthersIsNotSetAside() {
        var pool = pool(1, connected: [0])
        _ = pool.request("slow", id: 1, deadline: 100, now: 0)
        _ = pool.request("quick", id: 2, deadline: 100, now: 10)
        #expect(pool.reply(id: 2, from: 0) == "quick")
        let actions = pool.tick(now: 100)
        #expect(ends(actions) == ["slow": .deadlineExceeded])
        #expect(actions.probe.isEmpty)
    }

    @Test("Endpoints that were set aside are used if there are no others")
    func suspectsAreUsedWhereThereIsNoOther() {
        var pool = pool(1, connected: [0])
        _ = pool.request("lost", id: 1, deadline: 100, now: 0)
        #expect(pool.tick(now: 100).probe == [0])
        #expect(pool.request("next", id: 2, deadline: 500, now: 100) == .send(endpoint: 0))
    }

    @Test("An endpoint is no longer set aside after it reconnects")
    func aNewConnectionIsNotSuspect() {
        var pool = pool(1, connected: [0])
        _ = pool.request("lost", id: 1, deadline: 100, now: 0)
        _ = pool.tick(now: 100)
        _ = pool.disconnected(0)
        #expect(pool.nextTick == nil)
        _ = pool.connected(0, now: 0)
        #expect(pool.tick(now: 5_000).probe.isEmpty)
    }

    @Test("A request that was refused is forgotten")
    func aRefusedRequestIsForgotten() {
        var pool = pool(1, connected: [0])
        _ = pool.request("a", id: 1, deadline: 100, now: 0)
        #expect(pool.sendRefused(id: 1) == "a")
        #expect(pool.disconnected(0).isEmpty)
        #expect(pool.tick(now: 100).failed.isEmpty)
    }

    @Test("Stopping ends all requests")
    func stoppingEndsEverything() {
        var pool = pool(1, connected: [0])
        _ = pool.request("a", id: 1, deadline: 100, now: 0)
        _ = pool.disconnected(0)
        _ = pool.request("b", id: 2, deadline: 100, now: 0)
        _ = pool.connected(0, now: 0)
        _ = pool.request("c", id: 3, deadline: 100, now: 0)
        #expect(pool.stop() == ["b", "c"])
        #expect(pool.request("d", id: 4, deadline: 100, now: 0) == .fail(.stopped))
        #expect(pool.nextTick == nil)
    }

    @Test("A leaving endpoint gets requests only if there is no other, and is preferred to a suspect one")
    func leaving() {
        var pool = pool(2, connected: [0, 1])
        pool.setLeaving(0, true)
        for id in UInt64(1)...5 { #expect(pool.request("r", id: id, deadline: 5_000, now: 0) == .send(endpoint: 1)) }
        #expect(pool.tick(now: 5_000).probe == [1])
        #expect(pool.request("r", id: 6, deadline: 9_000, now: 5_000) == .send(endpoint: 0))
        _ = pool.reply(id: nil, from: 1)
        #expect(pool.request("r", id: 7, deadline: 9_000, now: 5_000) == .send(endpoint: 1))
        // It has stayed.
        pool.setLeaving(0, false)
        #expect(pool.reply(id: 6, from: 0) == "r")
        #expect(pool.request("r", id: 8, deadline: 9_000, now: 5_000) == .send(endpoint: 0))
    }

    @Test("A new endpoint takes requests when it is connected, also under the number of one that is gone")
    func added() {
        var pool = pool(0)
        #expect(pool.request("early", id: 1, deadline: 5_000, now: 0) == .wait)
        pool.added(0)
        #expect(pool.connected(0, now: 0).map(\.request) == ["early"])
        pool.added(1)
        #expect(pool.request("r", id: 2, deadline: 5_000, now: 0) == .send(endpoint: 0))
        _ = pool.connected(1, now: 0)
        #expect(pool.request("r", id: 3, deadline: 5_000, now: 0) == .send(endpoint: 1))
        pool.setLeaving(0, true)
        #expect(pool.disconnected(0) == ["early", "r"])
        pool.added(0)
        #expect(pool.request("r", id: 4, deadline: 5_000, now: 0) == .send(endpoint: 1))
        _ = pool.connected(0, now: 0)
        #expect(pool.request("r", id: 5, deadline: 5_000, now: 0) == .send(endpoint: 0))
    }

    /// Random events: every request ends exactly once, and the limit of pending requests holds.
    @Test("Every request ends exactly once, whatever happens", arguments: 1...20)
    func everyRequestEndsOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pool = Pool(.init(endpoints: 3, maxPending: 50, connectGrace: 20, probeInterval: 30))
        var inFlight: [UInt64: Int?] = [:]
        var ended: [String: Int] = [:]
        func end(_ request: String?) {
            guard let request, let id = UInt64(request) else { return }
            ended[request, default: 0] += 1
            inFlight[id] = nil
        }
        var endpoints = 3
        for step in 1...5_000 {
            let now = MonotonicMilliseconds(rawValue: Int64(step))
            let endpoint = Int.random(in: 0..<endpoints, using: &random)
            let id = UInt64(step)
            switch Int.random(in: 0..<22, using: &random) {
            case 20: pool.setLeaving(endpoint, .random(using: &random))
            case 21:
                if endpoints < 8 {
                    pool.added(endpoints)
                    endpoints += 1
                } else if !pool.isConnected(endpoint) {
                    pool.added(endpoint)
                }
            case 0: pool.disconnected(endpoint).forEach { end($0) }
            case 1...2: for sent in pool.connected(endpoint, now: 0) { inFlight[sent.id] = sent.endpoint }
            case 3...6:
                guard let (id, endpoint) = inFlight.randomElement(using: &random), let endpoint else { break }
                end(pool.reply(id: id, from: endpoint))
            case 7: end(inFlight.keys.randomElement(using: &random).flatMap { pool.cancelled(id: $0) })
            case 8...10: pool.tick(now: now).failed.forEach { end($0.request) }
            default:
                let deadline = now + Milliseconds(rawValue: .random(in: 0..<60, using: &random))
                switch pool.request("\(id)", id: id, deadline: deadline, now: now) {
                case .send(let endpoint): inFlight[id] = .some(endpoint)
                case .wait: inFlight[id] = .some(nil)
                case .fail: ended["\(id)", default: 0] += 1
                }
            }
            #expect(inFlight.count <= 50)
        }
        pool.stop().forEach { end($0) }
        #expect(inFlight.isEmpty)
        #expect(ended.values.allSatisfy { $0 == 1 })
    }

    private func ends(_ actions: Pool.TickActions) -> [String: Pool.Failure] {
        Dictionary(uniqueKeysWithValues: actions.failed)
    }
}
