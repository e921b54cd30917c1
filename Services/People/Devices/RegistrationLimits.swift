import Base
import Schemas
import ServiceKit
import Synchronization

/// Limits the registrations with a password, by address and in all. Each instance of the service counts for itself.
final class RegistrationLimits: Sendable {
    private let counts = Mutex(RegistrationCounts())

    /// - Parameter client: `nil` if it is unknown. All of those count together. An IPv6 address counts with its /64 network.
    /// - Throws: ``CommandFailure`` with `overloaded` if there are too many.
    func count(from client: IPAddress?) throws(CommandFailure) {
        guard let wait = counts.withLock({ $0.count(from: client?.customer, now: .now) }) else { return }
        throw CommandFailure(.overloaded, "too many people are registering; try again later", retryAfter: Milliseconds(wait))
    }
}

/// The registrations of an hour. Pure.
struct RegistrationCounts: Sendable {
    private static let period = Duration.seconds(3_600)

    private let maxPerAddress: Int
    private let maxInAll: Int
    private var begun: ContinuousClock.Instant?
    private var inAll = 0
    private var addresses: [IPAddress?: Int] = [:]

    init(maxPerAddress: Int = PersonLimits.registrationsPerAddress, maxInAll: Int = PersonLimits.registrationsPerHour) {
        self.maxPerAddress = maxPerAddress
        self.maxInAll = maxInAll
    }

    /// Counts a registration.
    ///
    /// - Returns: How long it has to wait; `nil` if it need not.
    mutating func count(from address: IPAddress?, now: ContinuousClock.Instant) -> Duration? {
        if begun.map({ now >= $0 + Self.period }) ?? true {
            begun = now
            inAll = 0
            addresses = [:]
        }
        guard inAll < maxInAll, addresses[address, default: 0] < maxPerAddress else {
            return begun.map { now.duration(to: $0 + Self.period) }
        }
        inAll += 1
        addresses[address, default: 0] += 1
        return nil
    }
}
