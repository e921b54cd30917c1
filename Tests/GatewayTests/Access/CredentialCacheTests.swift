import Schemas
import TestSupport
import Testing
import Base

@testable import Gateway

/// When copies of credentials may be used.
@Suite("Copies of credentials")
struct CredentialCacheTests {
    private static let grace = Duration.seconds(60)
    private static let maxUnknown = 100
    private let start = ContinuousClock.now
    private let wall = UnixMilliseconds.now
    private let hash = Secret("secret").credentialHash

    private func find(
        _ cache: CredentialCache, _ hash: CredentialHash? = nil, after time: Duration = .zero
    ) -> CredentialCache.Lookup {
        cache.find(hash ?? self.hash, at: start + time, wall: wall + Milliseconds(time))
    }

    /// A cache with ann's credential, at 7 changes.
    private func filled(
        expires: UnixMilliseconds? = nil, maxExpires: UnixMilliseconds? = nil
    ) throws -> (CredentialCache, Credential) {
        var cache = CredentialCache(grace: Self.grace, maxUnknown: Self.maxUnknown)
        let ann = try #require(AccountName("ann"))
        let credential = Credential.sample(.communicator, ann, expires: expires, maxExpires: maxExpires, sequence: 7)
        #expect(find(cache) == .ask)
        let isCurrent = cache.add(credential, for: hash, asked: start)
        #expect(isCurrent)
        return (cache, credential)
    }

    @Test("A copy is used for the grace period after the service was last heard; after a silence a request first waits for it")
    func grace() throws {
        var (cache, credential) = try filled()
        #expect(find(cache, after: .milliseconds(1_500)) == .known(credential))
        #expect(find(cache, after: .milliseconds(1_600)) == .ask && cache.mustConfirm(at: start + .milliseconds(1_600)))
        cache.couldNotConfirm(at: start + .milliseconds(1_700))
        #expect(find(cache, after: .milliseconds(3_200)) == .known(credential))
        #expect(find(cache, after: .milliseconds(3_300)) == .ask)
        cache.couldNotConfirm(at: start + .seconds(59))
        #expect(find(cache, after: .milliseconds(59_900)) == .known(credential) && find(cache, after: .seconds(60)) == .ask)
        #expect(cache.usableUntil(at: start) == start + Self.grace && cache.usableUntil(at: start + .seconds(60)) == nil)
    }

    @Test("After a silence an announcement does not confirm the copies: it may have waited in a frozen process")
    func frozen() throws {
        var (cache, credential) = try filled()
        let old = cache.announced(PeopleChanged(after: 7), at: start + .seconds(10))
        #expect(old.mustRead && find(cache, after: .seconds(10)) == .ask)
        cache.read(PeopleChanged(after: 7), after: 7, asked: start + .seconds(10))
        #expect(find(cache, after: .seconds(11)) == .known(credential))
        let next = cache.announced(PeopleChanged(after: 7), at: start + .seconds(11))
        #expect(!next.mustRead && find(cache, after: .milliseconds(12_400)) == .known(credential))
    }

    @Test("Use postpones the end of a copy by two hours, to twelve hours after the beginning, without the service")
    func use() throws {
        let hour = Duration.seconds(3_600)
        let end = wall + Milliseconds(hour * 2)
        var (cache, _) = try filled(expires: end, maxExpires: wall + Milliseconds(hour * 12))
        for minute in stride(from: 0, through: 12 * 60, by: 60) {
            let time = Duration.seconds(60) * minute
            cache.used(hash, at: wall + Milliseconds(time))
            cache.read(PeopleChanged(after: 7), after: 7, asked: start + time)
            let isKnown = if case .known = find(cache, after: time) { true } else { false }
            #expect(isKnown == (minute < 12 * 60), "\(minute)")
        }
        let (unused, its) = try filled(expires: wall + .seconds(1))
        #expect(find(unused) == .known(its) && find(unused, after: .seconds(1)) == .ask)
    }

    @Test("The copy of a sign-in that began while the clock was ahead is not used: the service decides")
    func clockAhead() throws {
        let (minute, hours) = (Milliseconds.seconds(60), Milliseconds.seconds(12 * 3_600))
        let last = wall + hours + minute
        let (cache, its) = try filled(expires: wall + minute, maxExpires: last)
        #expect(find(cache) == .known(its))
        let (ahead, _) = try filled(expires: wall + minute, maxExpires: last + .seconds(1))
        #expect(find(ahead) == .ask)
    }

    @Test("An announced change concerns only the credentials that it names, and is applied without a request")
    func changes() throws {
        let other = Secret("another").credentialHash
        for (change, lookup, requested) in [
            (CredentialChange(of: try #require(AccountName("bob"))), nil, []),
            (CredentialChange(of: other), nil, [other]),
            (CredentialChange(of: other, ended: true), nil, []),
            (CredentialChange(of: try #require(AccountName("ANN"))), .ask, [hash]),
            (CredentialChange(of: hash), .ask, [hash]),
            (CredentialChange(of: try #require(AccountName("ANN")), ended: true), .unknown, []),
            (CredentialChange(of: hash, ended: true), .unknown, []),
        ] as [(CredentialChange, CredentialCache.Lookup?, [CredentialHash])] {
            var (cache, credential) = try filled()
            let event = cache.announced(PeopleChanged([change], after: 7), at: start + .seconds(1))
            #expect(!event.mustRead && event.changed == requested && cache.applied == 8)
            #expect(find(cache, after: .seconds(1)) == lookup ?? .known(credential), "\(change)")
            // The repetition changes nothing.
            let repeated = cache.announced(PeopleChanged([change], after: 7), at: start + .seconds(2))
            #expect(!repeated.mustRead && repeated.changed == [])
            #expect(find(cache, after: .seconds(2)) == lookup ?? .known(credential), "\(change)")
        }
    }

    @Test("While announced changes cannot be read, the copies stay in use; a request waits once for each announcement")
    func unread() throws {
        var (cache, credential) = try filled()
        let event = cache.announced(PeopleChanged([CredentialChange(of: hash)], after: 9), at: start + .seconds(1))
        #expect(event.mustRead && event.changed == [] && find(cache, after: .seconds(1)) == .ask)
        cache.couldNotConfirm(at: start + .milliseconds(1_200))
        #expect(find(cache, after: .milliseconds(1_300)) == .known(credential))
        cache.read(PeopleChanged(allUpTo: 10, after: 7), after: 7, asked: start + .seconds(2))
        #expect(find(cache, after: .seconds(2)) == .ask && cache.mustList && cache.applied == 10)
    }

    @Test("A copy that is newer than a change is kept, even that of an account whose earlier credentials have ended")
    func newer() throws {
        var (cache, _) = try filled()
        let ann = try #require(AccountName("ann"))
        let new = Credential.sample(.communicator, ann, sequence: 9)
        let newHash = Secret("new").credentialHash
        let isNewer = cache.add(new, for: newHash, asked: start)
        #expect(isNewer)
        let changes = [CredentialChange(of: ann, ended: true), CredentialChange(of: newHash)]
        _ = cache.announced(PeopleChanged(changes, after: 7), at: start)
        #expect(find(cache) == .unknown && find(cache, newHash) == .known(new))
    }

    @Test("An answer about a credential that is older than a known change is not kept")
    func lateAnswer() throws {
        var (cache, _) = try filled()
        _ = cache.announced(PeopleChanged([CredentialChange(of: hash)], after: 7), at: start)
        let late = Credential.sample(.communicator, try #require(AccountName("ann")), sequence: 7)
        let isCurrent = cache.add(late, for: hash, asked: start)
        #expect(!isCurrent && find(cache) == .ask)
    }

    @Test("A change through this gateway counts at once, without the service, and concerns only its credentials")
    func ownChange() throws {
        var (cache, credential) = try filled()
        let bob = Credential.sample(.communicator, try #require(AccountName("bob")), sequence: 7)
        let bobs = Secret("bob").credentialHash
        _ = cache.add(bob, for: bobs, asked: start)
        let target = CredentialTarget.account(bob.account)
        #expect(cache.hashes(of: target) == [bobs])
        var changed = cache
        let requested = changed.changed(target, ended: [], at: start + .seconds(1))
        #expect(requested == [bobs])
        #expect(find(changed, bobs, after: .seconds(1)) == .ask && find(changed, after: .seconds(1)) == .known(credential))
        // Asked before the change, answered after it.
        let isCurrent = changed.add(bob, for: bobs, asked: start + .milliseconds(900))
        #expect(!isCurrent && find(changed, bobs, after: .seconds(1)) == .ask)
        let isLater = changed.add(bob, for: bobs, asked: start + .seconds(1))
        #expect(isLater && find(changed, bobs, after: .seconds(1)) == .known(bob))

        let none = cache.changed(target, ended: [bobs], at: start + .seconds(1))
        #expect(none == [])
        #expect(find(cache, bobs, after: .seconds(1)) == .unknown && find(cache, after: .seconds(1)) == .known(credential))
        // It never comes back.
        _ = cache.add(bob, for: bobs, asked: start + .seconds(2))
        #expect(find(cache, bobs, after: .seconds(1)) == .unknown)
    }

    @Test("A service whose data was restored is followed from its lower number")
    func restored() throws {
        var (cache, _) = try filled()
        let lower = cache.announced(PeopleChanged(after: 3), at: start)
        #expect(lower.mustRead)
        cache.read(PeopleChanged(allUpTo: 3, after: 7), after: 7, asked: start + .seconds(1))
        #expect(find(cache) == .ask && cache.applied == 3)
        let again = cache.announced(PeopleChanged(after: 3), at: start + .seconds(2))
        #expect(!again.mustRead)
    }

    @Test("Copies from an earlier process are used within the grace period, after a failed attempt to confirm them")
    func kept() throws {
        let (_, credential) = try filled()
        let ended = Secret("ended").credentialHash
        let kept = KeptCredentials(
            confirmed: wall, sequence: 7, credentials: [HashedCredential(hash: hash, credential: credential)],
            ended: [EndedCredential(hash: ended, at: wall)], signOuts: [])
        var cache = CredentialCache(grace: Self.grace)
        cache.restore(kept, confirmed: start)
        let later = Duration.seconds(30)
        #expect(find(cache, after: later) == .ask && find(cache, ended, after: later) == .unknown && cache.mustList)
        cache.couldNotConfirm(at: start + later)
        #expect(find(cache, after: later) == .known(credential) && cache.usableUntil(at: start + later) == start + Self.grace)
        cache.couldNotConfirm(at: start + .seconds(60))
        #expect(find(cache, after: .seconds(60)) == .ask)
        // The service tells what has changed since.
        cache.read(PeopleChanged([CredentialChange(of: hash, ended: true)], after: 7), after: 7, asked: start + .seconds(61))
        #expect(find(cache, after: .seconds(61)) == .unknown)
    }

    @Test("A gateway that has missed a restore of the service's data drops the copies that the list does not contain")
    func missedRestore() throws {
        let (_, credential) = try filled()
        let ann = credential.account
        let other = Secret("other").credentialHash
        let kept = KeptCredentials(
            confirmed: wall, sequence: 100,
            credentials: [hash, other].map { HashedCredential(hash: $0, credential: credential) }, ended: [], signOuts: [])
        var cache = CredentialCache(grace: Self.grace)
        cache.restore(kept, confirmed: start)
        // The data was restored at 90. Then change 95 revoked a credential; the gateway gets only those behind 100.
        let second = Duration.seconds(1)
        let changes = [CredentialChange](repeating: CredentialChange(of: Secret("third").credentialHash), count: 5)
        cache.read(PeopleChanged(changes, after: 100), after: 100, asked: start + second)
        #expect(find(cache, after: second) == .known(credential) && cache.mustList)
        let listed = Credential.sample(.communicator, ann, sequence: 105)
        let isCurrent = cache.add(listed, for: other, asked: start + second)
        cache.listed(in: cache.generation)
        #expect(isCurrent && find(cache, other, after: second) == .known(listed) && find(cache, after: second) == .ask)
        #expect(!cache.mustList)

        // A gateway that runs may miss it while it does not hear the service.
        let silence = Duration.seconds(20)
        cache.read(PeopleChanged(after: 105), after: 105, asked: start + silence)
        #expect(cache.mustList && find(cache, other, after: silence) == .known(listed))
        cache.listed(in: cache.generation)
        #expect(find(cache, other, after: silence) == .ask)
    }

    @Test("An end is remembered for longer than any sign-in lasts; of too many, the oldest ones are forgotten")
    func ends() throws {
        var cache = CredentialCache(grace: Self.grace, maxEnded: 10)
        let hashes = (0..<12).map { Secret("\($0)").credentialHash }
        let kept: [EndedCredential] = hashes.prefix(10).enumerated().map { number, hash in
            let minutes = Int64(10 - number)
            return EndedCredential(hash: hash, at: wall - Milliseconds.seconds(60 * minutes))
        }
        cache.restore(
            KeptCredentials(confirmed: wall, sequence: 7, credentials: [], ended: kept, signOuts: []), confirmed: start)
        cache.end(hashes[10])
        cache.end(hashes[11])
        #expect(cache.ended.count <= 10 && !cache.hasEnded(hashes[0]) && hashes[2...].allSatisfy { cache.hasEnded($0) })
        cache.forgetOldEnds(at: wall + .seconds(12 * 3_600))
        #expect(hashes[2...].allSatisfy { cache.hasEnded($0) })
        cache.forgetOldEnds(at: wall + .seconds(14 * 3_600))
        #expect(cache.ended.isEmpty)
    }

    @Test("An unknown credential is not asked for again for a moment, and a flood of them takes up little memory")
    func unknown() throws {
        var (cache, credential) = try filled()
        let other = Secret("other").credentialHash
        cache.addUnknown(other, at: start)
        #expect(find(cache, other) == .unknown && find(cache, other, after: .seconds(1)) == .ask)
        for number in 0..<(2 * Self.maxUnknown) { cache.addUnknown(Secret("\(number)").credentialHash, at: start) }
        #expect(find(cache, Secret("\(2 * Self.maxUnknown - 1)").credentialHash) == .ask)
        #expect(find(cache) == .known(credential))
        let later = start + .seconds(2)
        cache.addUnknown(Secret("last").credentialHash, at: later)
        #expect(cache.find(Secret("last").credentialHash, at: later, wall: wall) == .unknown)
    }
}
