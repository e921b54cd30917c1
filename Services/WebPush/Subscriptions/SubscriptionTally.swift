import DequeModule
import Base
import Schemas
import ServiceKit
import Synchronization
import WebPushStore

/// Counts subscriptions, and refuses new ones beyond a limit. Anyone can subscribe, and each subscription costs a push.
///
/// The numbers are in memory. They are counted again every few minutes (``Subscriptions/recount()``), since other instances add
/// subscriptions too, and what is not proven ends by itself.
final class SubscriptionTally: Sendable {
    struct Limits: Sendable {
        var subscriptions = 500_000
        /// How many of a client's address may be unproven at a time. A campus shares addresses, and a browser needs a second.
        var unprovenByAddress = 500
        /// How many of a push service may be unproven at a time.
        var unprovenByService = 5_000
    }

    /// The subscriptions of the store.
    struct Count: Sendable {
        fileprivate(set) var subscriptions = 0
        fileprivate(set) var proven = 0
        /// By push service.
        fileprivate(set) var hosts: [String: Int] = [:]

        mutating func add(_ subscription: SubscriptionDocument) {
            subscriptions += 1
            if subscription.isProven { proven += 1 }
            hosts[subscription.host, default: 0] += 1
        }

        fileprivate mutating func remove(_ subscription: SubscriptionDocument) {
            subscriptions -= 1
            if subscription.isProven { proven -= 1 }
            let left = (hosts[subscription.host] ?? 0) - 1
            hosts[subscription.host] = left > 0 ? left : nil
        }
    }

    private struct Unproven: Sendable {
        let id: ObjectID
        let service: String
        let address: IPAddress?
        let ends: UnixMilliseconds
    }

    /// Those that were added here and are not proven, oldest first, and how many each address and push service has.
    private struct Waiting: Sendable {
        var order: Deque<ObjectID> = []
        var known: [ObjectID: Unproven] = [:]
        var addresses: [IPAddress: Int] = [:]
        var services: [String: Int] = [:]

        mutating func add(_ unproven: Unproven) {
            order.append(unproven.id)
            known[unproven.id] = unproven
            services[unproven.service, default: 0] += 1
            if let address = unproven.address { addresses[address, default: 0] += 1 }
        }

        mutating func remove(_ id: ObjectID) {
            guard let unproven = known.removeValue(forKey: id) else { return }
            services[unproven.service] = services[unproven.service].flatMap { $0 > 1 ? $0 - 1 : nil }
            if let address = unproven.address { addresses[address] = addresses[address].flatMap { $0 > 1 ? $0 - 1 : nil } }
        }

        mutating func removeEnded(at now: UnixMilliseconds) {
            while let id = order.first {
                if let unproven = known[id], unproven.ends > now { break }
                order.removeFirst()
                remove(id)
            }
        }
    }

    private struct State: Sendable {
        var count = Count()
        var waiting = Waiting()
    }

    private let limits: Limits
    private let state = Mutex(State())

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The present numbers.
    var count: Count { state.withLock(\.count) }

    /// Counts a new subscription.
    ///
    /// - Parameter address: The client's; it is not stored. Clients without one have no limit.
    /// - Throws: ``CommandFailure`` with `overloaded`; then it is not counted.
    func admit(_ subscription: SubscriptionDocument, from address: String?, now: UnixMilliseconds) throws(CommandFailure) {
        let customer = address.flatMap { IPAddress($0) }?.customer
        let refusal = state.withLock { state -> String? in
            state.waiting.removeEnded(at: now)
            if state.count.subscriptions >= limits.subscriptions { return "there are too many subscriptions" }
            if (state.waiting.services[subscription.service] ?? 0) >= limits.unprovenByService {
                return "too many new subscriptions at \(subscription.service) have not returned their code"
            }
            if let customer, (state.waiting.addresses[customer] ?? 0) >= limits.unprovenByAddress {
                return "too many new subscriptions from this address have not returned their code"
            }
            state.count.add(subscription)
            state.waiting.add(
                Unproven(id: subscription.id, service: subscription.service, address: customer, ends: subscription.expires ?? now)
            )
            return nil
        }
        if let refusal { throw CommandFailure(.overloaded, refusal, retryAfter: .seconds(60)) }
    }

    /// - Parameter subscription: As it was before.
    func proved(_ subscription: SubscriptionDocument) {
        state.withLock { state in
            state.count.proven += 1
            state.waiting.remove(subscription.id)
        }
    }

    /// One that was found in the store is proven.
    func isProven(_ id: ObjectID) { state.withLock { $0.waiting.remove(id) } }

    /// - Parameter subscription: As it was before.
    func removed(_ subscription: SubscriptionDocument) {
        state.withLock { state in
            state.count.remove(subscription)
            state.waiting.remove(subscription.id)
        }
    }

    /// The subscriptions of the store were counted again.
    func replace(by count: Count) { state.withLock { $0.count = count } }
}
