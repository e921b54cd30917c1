import Base
import Bus
import CoreMetrics
import DeviceTokens
import Instruments
import Logging
import Schemas
import ServiceLifecycle
import Synchronization

/// Checks the tokens of devices without asking anyone: the people service tells which keys sign them, and which devices have ended. The
/// sign-in of a device writes nothing here.
///
/// While the people service cannot be reached, a token counts until twelve hours after its issue, unless its end is known here.
final class DeviceAccess: Service {
    typealias Observer = @Sendable (DeviceNews) -> Void

    /// What a token is worth.
    enum Check: Sendable {
        case caller(PersonCaller)
        case refused(DeviceTokenRefusal)
        /// It names a key that is not known here, and the people service cannot be asked for the latest ones.
        case unknowable
    }

    struct State {
        var ends = DeviceEnds()
        var verified = VerifiedTokens()
    }

    let people: CommandClient
    let subscriber: EventSubscriber
    let logger: Logger
    let state = Mutex(State())
    /// Writes the ends durably; `nil` for a gateway without a file.
    let keep = Mutex<(@Sendable () async throws -> Void)?>(nil)
    let reading = Mutex<Task<Void, Never>?>(nil)
    private let observers = Mutex<[Observer]>([])
    private let outcomes = TokenOutcomes()

    /// - Parameter endpoints: The event sockets of the people service.
    /// - Throws: ``BusError`` if an endpoint is invalid, or the bus is closed.
    init(people: CommandClient, bus: Bus, endpoints: [String], logger: Logger) throws(BusError) {
        self.people = people
        subscriber = try EventSubscriber(bus: bus, endpoints: endpoints, names: [DevicesChanged.name], logger: logger)
        self.logger = logger
    }

    /// Calls an observer with everything new. Ends that a restored file has are not new.
    func observe(_ observer: @escaping Observer) {
        observers.withLock { $0.append(observer) }
    }

    // MARK: Checks

    /// - Returns: `nil` if the people service is to be asked first (``confirm(within:)``).
    func check(_ token: Secret, _ hash: CredentialHash) -> Check? {
        state.withLock { $0.ends.mustConfirm(at: .now) } ? nil : checkNow(token, hash)
    }

    /// Checks a token by what is known here.
    func checkNow(
        _ token: Secret, _ hash: CredentialHash, at now: ContinuousClock.Instant = .now, wall: UnixMilliseconds = .now
    ) -> Check {
        let check = uncounted(token, hash, at: now, wall: wall)
        outcomes.count(check)
        return check
    }

    private func uncounted(
        _ token: Secret, _ hash: CredentialHash, at now: ContinuousClock.Instant, wall: UnixMilliseconds
    ) -> Check {
        let (known, keys, revision, isOnline) = state.withLock {
            ($0.verified[hash], $0.ends.publicKeys, $0.ends.keysRevision, $0.ends.isOnline(at: now))
        }
        do throws(DeviceTokenRefusal) {
            // Outside of the lock: a signature takes a thousand times as long as a look-up.
            let caller =
                if let known { known } else { PersonCaller(try DeviceToken.claims(of: token.text, keys: keys), hash: hash) }
            if let refusal = refusal(of: caller, at: now, wall: wall) { throw refusal }
            if known == nil {
                state.withLock { if $0.ends.keysRevision == revision { $0.verified.add(caller, at: wall) } }
            }
            return .caller(caller)
        } catch {
            return error == .key && !isOnline ? .unknowable : .refused(error)
        }
    }

    /// Why a token whose signature was right counts no longer; `nil` if it does.
    func refusal(
        of caller: PersonCaller, at now: ContinuousClock.Instant = .now, wall: UnixMilliseconds = .now
    ) -> DeviceTokenRefusal? {
        let (isOnline, hasEnded) = state.withLock { ($0.ends.isOnline(at: now), $0.ends.hasEnded(caller.claims)) }
        guard !hasEnded else { return .ended }
        do throws(DeviceTokenRefusal) {
            try caller.claims.check(at: wall, isOffline: !isOnline)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Ends through this gateway

    /// The people service has ended a device. When this returns, the device's tokens are refused here, even if the people service stops
    /// now, and if this gateway is killed and starts again.
    func end(device: ObjectID) async {
        // No other device ever gets this id, so the clocks of this machine and of the people service may differ.
        let at = UnixMilliseconds.now + PeopleLimits.clockTolerance
        await end { EndedTokens(number: $0, at: at, device: device) }
    }

    /// The people service has ended all devices of an account, as ``end(device:)``.
    func end(account: AccountName) async {
        await end { EndedTokens(number: $0, at: .now, account: account) }
    }

    private func end(_ make: (Int64) -> EndedTokens) async {
        let end = state.withLock { state in
            // Its own number comes with the event, and none is counted twice.
            let end = make(state.ends.applied)
            state.ends.end(end)
            return end
        }
        tell(DeviceNews(ended: [end]))
        guard let keep = keep.withLock(\.self) else { return }
        do {
            try await keep()
        } catch {
            logger.debug("the ends of devices cannot be kept", metadata: ["error": "\(error)"])
        }
    }

    func tell(_ news: DeviceNews) {
        if news.hasOtherKeys { state.withLock { $0.verified.removeAll() } }
        guard !news.ended.isEmpty || news.hasOtherKeys else { return }
        for observer in observers.withLock(\.self) { observer(news) }
    }
}

/// Counts the checks of tokens.
private struct TokenOutcomes: Sendable {
    private let valid = Instrument.deviceTokens.counter(["outcome": "ok"])
    private let unknowable = Instrument.deviceTokens.counter(["outcome": "unknowable"])
    private let refused = Dictionary(
        uniqueKeysWithValues: DeviceTokenRefusal.allCases.map {
            ($0, Instrument.deviceTokens.counter(["outcome": $0.rawValue]))
        })

    func count(_ check: DeviceAccess.Check) {
        switch check {
        case .caller: valid.increment()
        case .refused(let refusal): refused[refusal]?.increment()
        case .unknowable: unknowable.increment()
        }
    }
}
