import Base
import Schemas
import Testing

@testable import Gateway

/// What the gateway knows of the ends of devices.
@Suite("Ends of devices")
struct DeviceEndsTests {
    private let start = ContinuousClock.now
    private let wall = UnixMilliseconds.now
    private let one = TokenSigner("k1").announced
    private let two = TokenSigner("k2").announced

    private func end(_ number: Int64, _ device: ObjectID = ObjectID(), at: UnixMilliseconds = .now) -> EndedTokens {
        EndedTokens(number: number, at: at, device: device)
    }

    /// What the service announces, or answers.
    private func changes(after: Int64 = 0, _ ended: [EndedTokens] = [], more: Bool = false, keys: [DeviceTokenKey]? = nil)
        -> DevicesChanged
    {
        DevicesChanged(after: after, ended: ended, more: more, keys: keys ?? [one])
    }

    /// The ends after a first answer.
    private func confirmed(_ ended: [EndedTokens] = []) -> DeviceEnds {
        var ends = DeviceEnds()
        _ = ends.read(changes(ended), asked: start)
        return ends
    }

    @Test(
        "At first a request waits for the service; then it does so once after each silence, in which the process may have been frozen"
    )
    func silence() {
        var ends = DeviceEnds()
        #expect(ends.mustConfirm(at: start) && !ends.isOnline(at: start))
        ends.couldNotConfirm(at: start)
        #expect(!ends.mustConfirm(at: start + .milliseconds(1_500)) && ends.mustConfirm(at: start + .milliseconds(1_600)))
        _ = ends.read(changes(), asked: start + .seconds(2))
        #expect(!ends.mustConfirm(at: start + .seconds(3)) && ends.mustConfirm(at: start + .milliseconds(3_600)))
        #expect(ends.isOnline(at: start + .milliseconds(11_900)) && !ends.isOnline(at: start + .seconds(12)))
    }

    @Test("An announced end counts at once, each once and in any repetition")
    func announcements() {
        var ends = confirmed([end(1)])
        let device = ObjectID()
        let claims = DeviceTokenClaims.sample("ann", device, issued: wall - .seconds(5))
        let (news, mustRead) = ends.announced(changes([end(1), end(2, device)]), at: start + .seconds(1))
        #expect(news.ended.map(\.number) == [2] && !mustRead && ends.hasEnded(claims) && ends.applied == 2)
        let again = ends.announced(changes([end(1), end(2, device)]), at: start + .seconds(2))
        #expect(again.news.ended.isEmpty && !again.mustRead && ends.count == 2)
    }

    @Test("After a gap the ends are read, page by page, and until then a request waits once")
    func gap() {
        var ends = confirmed([end(1)])
        let (news, mustRead) = ends.announced(changes(after: 3, [end(4)]), at: start + .seconds(1))
        #expect(news.ended.isEmpty && mustRead && ends.mustConfirm(at: start + .seconds(1)))
        _ = ends.read(changes(after: 1, [end(2), end(3)], more: true), asked: start + .seconds(1))
        #expect(ends.applied == 3 && ends.mustRead(at: start + .seconds(1), silence: .seconds(2)))
        _ = ends.read(changes(after: 3, [end(4)]), asked: start + .milliseconds(1_100))
        #expect(ends.applied == 4 && !ends.mustRead(at: start + .milliseconds(1_200), silence: .seconds(2)))
        #expect(!ends.mustConfirm(at: start + .milliseconds(1_200)))
    }

    @Test("Announced ends that are too old for an answer are not asked for again")
    func oldEnds() {
        var ends = confirmed()
        let (_, mustRead) = ends.announced(changes(after: 90), at: start + .seconds(1))
        #expect(mustRead)
        _ = ends.read(changes(), asked: start + .milliseconds(1_001))
        let next = ends.announced(changes(after: 90), at: start + .seconds(2))
        #expect(ends.applied == 90 && !next.mustRead)
    }

    @Test("After a silence the keys of an event do not count: it may have waited in a frozen process")
    func frozen() {
        var ends = confirmed()
        _ = ends.read(changes(keys: [two]), asked: start + .seconds(1))
        let (news, mustRead) = ends.announced(changes(keys: [one, two]), at: start + .seconds(9))
        #expect(mustRead && !news.hasOtherKeys && ends.keys == [two])
        let read = ends.read(changes(keys: [two]), asked: start + .seconds(9))
        #expect(!read.hasOtherKeys)
    }

    @Test("A new key comes beside the others; one that is gone has fewer")
    func keys() {
        var ends = confirmed()
        let added = ends.announced(changes(keys: [one, two]), at: start + .seconds(1)).news
        #expect(added.hasOtherKeys && !added.hasFewerKeys && Set(ends.publicKeys.keys) == ["k1", "k2"])
        let removed = ends.announced(changes(keys: [two]), at: start + .seconds(2)).news
        #expect(removed.hasOtherKeys && removed.hasFewerKeys && Set(ends.publicKeys.keys) == ["k2"])
        let unreadable = DeviceTokenKey(id: "k3", key: "AAAA")
        _ = ends.announced(changes(keys: [two, unreadable]), at: start + .seconds(3))
        #expect(Set(ends.publicKeys.keys) == ["k2"])
    }

    @Test("The end of an account concerns all its devices until then, and none of another account")
    func accounts() {
        var ends = confirmed([EndedTokens(number: 1, at: wall, account: .sample("Ann"))])
        #expect(ends.hasEnded(.sample("ann", issued: wall - .seconds(1))) && ends.hasEnded(.sample("ann", issued: wall)))
        #expect(!ends.hasEnded(.sample("ann", issued: wall + .seconds(1))))
        #expect(!ends.hasEnded(.sample("bob", issued: wall - .seconds(1))))
        // An earlier end does not replace a later one.
        ends.end(EndedTokens(number: 1, at: wall - .seconds(60), account: .sample("ann")))
        #expect(ends.hasEnded(.sample("ann", issued: wall - .seconds(1))))
    }

    @Test("An end is forgotten when all tokens that it concerns are too old, and is kept until then")
    func old() {
        let (early, late) = (end(1, at: wall - .seconds(13 * 3_600)), end(2, at: wall - .seconds(13 * 3_600 - 1)))
        var ends = confirmed([early, late])
        ends.forgetOld(at: wall)
        #expect(ends.all == [late])
    }

    @Test("What an earlier process has kept counts, and only newer ends are asked for")
    func restored() {
        let device = ObjectID()
        var ends = DeviceEnds()
        ends.restore(KeptEnds(applied: 7, keys: [one], ended: [end(7, device)]))
        #expect(ends.applied == 7 && ends.hasEnded(.sample("ann", device, issued: wall - .seconds(1))))
        #expect(!ends.isOnline(at: start) && Set(ends.publicKeys.keys) == ["k1"])
    }

    @Test("Verified tokens are bounded: expired ones are forgotten first, then the oldest")
    func verified() {
        var verified = VerifiedTokens(max: 10)
        let expired = PersonCaller.sample("old", issued: wall - .seconds(3_661))
        verified.add(expired, at: wall)
        let callers = (0..<9).map { PersonCaller.sample("ann", issued: wall - .seconds(Int64(100 - $0))) }
        for caller in callers { verified.add(caller, at: wall) }
        verified.add(.sample("bob"), at: wall)
        #expect(verified[expired.hash] == nil && verified.count == 10 && verified[callers[0].hash] != nil)
        verified.add(.sample("carl"), at: wall)
        #expect(verified.count == 10 && verified[callers[0].hash] == nil && verified[callers[1].hash] != nil)
    }
}
