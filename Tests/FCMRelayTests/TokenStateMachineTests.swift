import Testing

@testable import FCMRelay

@Suite("The state machine of access tokens")
struct TokenStateMachineTests {
    private typealias Machine = TokenStateMachine<Int>

    private let start = ContinuousClock.now
    private let first = AccessToken(value: "first")
    private let second = AccessToken(value: "second")
    private let failure = TokenFailure("the token endpoint answered 503")

    /// A machine with a token that was issued at `start` and is valid for an hour.
    private func running() -> Machine {
        var machine = Machine()
        _ = machine.need(0, now: start)
        _ = machine.granted(GrantedToken(token: first, lifetime: .seconds(3_600)), now: start)
        return machine
    }

    @Test("All waiting sends share one request for an access token")
    func oneRequestForAllWhoWait() {
        var machine = Machine()
        #expect(machine.need(1, now: start) == .wait(requestsNew: true))
        #expect(machine.need(2, now: start) == .wait(requestsNew: false))
        #expect(machine.need(3, now: start) == .wait(requestsNew: false))
        let answer = machine.granted(GrantedToken(token: first, lifetime: .seconds(3_600)), now: start)
        #expect(answer == .init(waiters: [1, 2, 3], result: .success(first)))
        #expect(machine.need(4, now: start) == .use(first, requestsNew: false))
    }

    @Test("A token has an age and a rest of its life until it cannot be used any more")
    func life() throws {
        #expect(Machine().life(now: start) == nil)
        let machine = running()
        let life = try #require(machine.life(now: start + .seconds(600)))
        #expect(life == (.seconds(600), .seconds(2_990)))
        #expect(machine.life(now: start + .seconds(3_595)) == nil)
    }

    @Test("An access token is requested before a send needs it")
    func preparedBeforeItIsNeeded() {
        var machine = Machine()
        #expect(machine.prepare(now: start) == true)
        #expect(machine.prepare(now: start) == false)
        #expect(machine.need(1, now: start) == .wait(requestsNew: false))
        #expect(machine.granted(GrantedToken(token: first, lifetime: .seconds(60)), now: start).waiters == [1])
        #expect(machine.prepare(now: start) == false)
    }

    @Test("A token is renewed early and once, while the old one is still used")
    func renewedEarlyAndOnceWhileTheOldOneIsUsed() {
        var machine = running()
        #expect(machine.need(1, now: start + .seconds(3_299)) == .use(first, requestsNew: false))
        #expect(machine.need(2, now: start + .seconds(3_300)) == .use(first, requestsNew: true))
        #expect(machine.need(3, now: start + .seconds(3_301)) == .use(first, requestsNew: false))
        let answer = machine.granted(GrantedToken(token: second, lifetime: .seconds(3_600)), now: start + .seconds(3_302))
        #expect(answer == .init(waiters: [], result: .success(second)))
        #expect(machine.need(4, now: start + .seconds(3_303)) == .use(second, requestsNew: false))
    }

    @Test("A token with a short lifetime is renewed after half of it")
    func aShortLifeIsRenewedAtItsHalf() {
        var machine = Machine()
        _ = machine.need(0, now: start)
        _ = machine.granted(GrantedToken(token: first, lifetime: .seconds(20)), now: start)
        #expect(machine.need(1, now: start + .seconds(9)) == .use(first, requestsNew: false))
        #expect(machine.need(2, now: start + .seconds(10)) == .use(first, requestsNew: true))
        #expect(machine.need(3, now: start + .seconds(17)) == .use(first, requestsNew: false))
        // At the end of its lifetime it is not used.
        #expect(machine.need(4, now: start + .seconds(18)) == .wait(requestsNew: false))
    }

    @Test("After a long pause, the first send waits for a new token")
    func afterALongPauseTheFirstWaits() {
        var machine = running()
        #expect(machine.need(1, now: start + .seconds(7_200)) == .wait(requestsNew: true))
    }

    @Test("A failure fails all waiting sends, and the next request waits")
    func aFailureTellsAllWhoWaitAndBacksOff() {
        var machine = Machine()
        _ = machine.need(1, now: start)
        _ = machine.need(2, now: start)
        let told = TokenFailure(failure.description, retryAfter: .seconds(1))
        #expect(machine.failed(failure, now: start) == .init(waiters: [1, 2], result: .failure(told)))
        #expect(
            machine.need(3, now: start + .milliseconds(400))
                == .fail(TokenFailure(failure.description, retryAfter: .milliseconds(600))))
        #expect(machine.prepare(now: start + .milliseconds(400)) == false)
        #expect(machine.need(4, now: start + .seconds(1)) == .wait(requestsNew: true))
    }

    @Test("The backoff doubles up to a minute, and starts again after a success")
    func backOffDoublesToAMinuteAndStartsAnewAfterASuccess() throws {
        var machine = Machine()
        var now = start
        var pauses: [Duration] = []
        for attempt in 0..<100 {
            #expect(machine.need(attempt, now: now) == .wait(requestsNew: true))
            let failed = machine.failed(failure, now: now).result
            let pause = try #require(failed.failure?.retryAfter)
            pauses.append(pause)
            now += pause
        }
        #expect(
            pauses.prefix(8) == [
                .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60), .seconds(60),
            ])
        #expect(pauses.last == .seconds(60))
        _ = machine.need(100, now: now)
        _ = machine.granted(GrantedToken(token: first, lifetime: .seconds(100)), now: now)
        _ = machine.need(101, now: now + .seconds(100))
        #expect(
            machine.failed(failure, now: now).result == .failure(TokenFailure(failure.description, retryAfter: .seconds(1))))
    }

    @Test("After a failed renewal the old token is still used")
    func aFailedRenewalLeavesTheOldTokenInUse() {
        var machine = running()
        let renewal = start + .seconds(3_300)
        #expect(machine.need(1, now: renewal) == .use(first, requestsNew: true))
        #expect(machine.failed(failure, now: renewal).waiters == [])
        #expect(machine.need(2, now: renewal + .milliseconds(500)) == .use(first, requestsNew: false))
        #expect(machine.need(3, now: renewal + .seconds(1)) == .use(first, requestsNew: true))
    }

    @Test("A refused token is replaced once")
    func aRefusedTokenIsReplacedOnce() {
        var machine = running()
        let later = start + .seconds(100)
        machine.invalidate(first, now: later)
        #expect(machine.need(1, now: later) == .wait(requestsNew: true))
        // Other sends used the same token, and are refused later.
        machine.invalidate(first, now: later)
        #expect(machine.need(2, now: later) == .wait(requestsNew: false))
        #expect(machine.granted(GrantedToken(token: second, lifetime: .seconds(3_600)), now: later).waiters == [1, 2])
        machine.invalidate(first, now: later)
        #expect(machine.need(3, now: later) == .use(second, requestsNew: false))
    }

    @Test("If new tokens are refused as well, the requests for more are limited")
    func newTokensThatAreRefusedAreNotAskedForWithoutEnd() {
        var machine = running()
        machine.invalidate(first, now: start)
        #expect(machine.need(1, now: start) == .wait(requestsNew: true))
        _ = machine.granted(GrantedToken(token: second, lifetime: .seconds(3_600)), now: start + .seconds(1))
        machine.invalidate(second, now: start + .seconds(2))
        guard case .fail(let told) = machine.need(2, now: start + .seconds(2)) else {
            Issue.record("asked again at once")
            return
        }
        #expect(told.retryAfter == .seconds(10))
        #expect(machine.need(3, now: start + .seconds(12)) == .wait(requestsNew: true))
    }

    @Test("A send that no longer waits gets no answer")
    func whoeverLeavesGetsNoAnswer() {
        var machine = Machine()
        _ = machine.need(1, now: start)
        _ = machine.need(2, now: start)
        #expect(machine.leave(1) == true)
        #expect(machine.leave(1) == false)
        #expect(machine.granted(GrantedToken(token: first, lifetime: .seconds(60)), now: start).waiters == [2])
        #expect(machine.leave(2) == false)
    }

    @Test("An access token is not shown when it is printed")
    func tokensAreNotPrinted() {
        #expect(!"\(first) \(String(reflecting: first))".contains("first"))
        var dumped = ""
        dump(GrantedToken(token: first, lifetime: .seconds(1)), to: &dumped)
        #expect(!dumped.contains("\"first\""))
    }
}
