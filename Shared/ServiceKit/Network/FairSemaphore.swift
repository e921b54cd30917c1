import Schemas
import Base

/// A semaphore: few bodies run at once, and the others wait. The clients' networks take turns (``FairQueue``), so that a network with
/// many addresses cannot keep the others waiting with requests that need no sign-in.
package actor FairSemaphore {
    private let maxRunning: Int
    /// A longer wait ends with an error. Otherwise all would wait, one after another, for a service that does not answer.
    private let maxWait: Duration
    private let refusal: CommandFailure
    private var running = 0
    private var waiting: FairQueue<CheckedContinuation<Bool, Never>>

    /// How many bodies wait.
    package var waitingCount: Int { waiting.count }

    /// - Parameter refusal: The message if the queue is full or the wait too long.
    package init(maxRunning: Int, maxWaiting: Int, maxWait: Duration, refusal: String) {
        self.maxRunning = maxRunning
        self.maxWait = maxWait
        self.refusal = CommandFailure(.overloaded, refusal, retryAfter: .seconds(1))
        waiting = FairQueue(maxWaiting: maxWaiting)
    }

    /// - Parameter client: The client's address; all without one count as one network.
    /// - Throws: ``CommandFailure`` with status `overloaded` if too many wait, or the error of the body.
    package nonisolated func take<Value: Sendable>(
        for client: IPAddress?, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await begin(client)
        do {
            let value = try await body()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }

    private func begin(_ client: IPAddress?) async throws(CommandFailure) {
        guard running >= maxRunning else {
            running += 1
            return
        }
        let begin = ContinuousClock.now
        // A body that ends passes its turn on, so `running` stays the same.
        let hasTurn = await withCheckedContinuation { waiting.add($0, from: client)?.resume(returning: false) }
        guard hasTurn else { throw refusal }
        guard ContinuousClock.now - begin <= maxWait else {
            end()
            throw refusal
        }
    }

    private func end() {
        if let next = waiting.next() { next.resume(returning: true) } else { running -= 1 }
    }
}

/// A bounded queue that serves networks in turn: the /48 networks of IPv6 and the /24 networks of IPv4, and within each of them the /64
/// networks and the addresses. Pure.
///
/// When it is full, a new element replaces the newest one of the network with the most elements, if that network has more elements than
/// the new element's network.
package struct FairQueue<Element> {
    private var networks = RoundRobin<RoundRobin<[Element]>>()
    private let maxWaiting: Int

    /// How many wait.
    package var count: Int { networks.count }

    package init(maxWaiting: Int) {
        self.maxWaiting = maxWaiting
    }

    /// Adds an element at its network's end.
    ///
    /// - Parameter client: `nil` if it is unknown. All of those are one network.
    /// - Returns: The element for which there is no room, which may be the added one.
    package mutating func add(_ element: Element, from client: IPAddress?) -> Element? {
        let (site, customer) = (client?.site ?? .unknown, client?.customer ?? .unknown)
        var displaced: Element?
        if count >= maxWaiting {
            displaced = makeRoom(for: site, customer)
            guard displaced != nil else { return element }
        }
        networks.change(site) { $0.change(customer) { $0.append(element) } }
        return displaced
    }

    /// Removes the element whose turn it is.
    package mutating func next() -> Element? {
        networks.takeTurn { $0.takeTurn { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    /// Removes the newest element of the largest network, if it still has more than the client's; otherwise that of the client's
    /// network, in the same way.
    private mutating func makeRoom(for site: IPAddress, _ customer: IPAddress) -> Element? {
        if let other = networks.largest, networks.count(of: other) > networks.count(of: site) + 1 {
            return networks.change(other) { customers in
                customers.largest.flatMap { customers.change($0) { $0.popLast() } }
            }
        }
        guard networks.count(of: site) > 0 else { return nil }
        return networks.change(site) { customers in
            let own = customers.count(of: customer)
            guard let other = customers.largest, customers.count(of: other) > own + 1 else { return nil }
            return customers.change(other) { $0.popLast() }
        }
    }
}

extension IPAddress {
    /// Stands for clients without an address.
    fileprivate static let unknown = IPAddress(bits: 0)
}

/// What can have a turn.
private protocol Share {
    init()
    var count: Int { get }
}

extension Array: Share {}

/// Waiting elements by networks, which take turns.
private struct RoundRobin<Part: Share>: Share {
    private var parts: [IPAddress: Part] = [:]
    /// The networks that have any, the next one first.
    private var order: [IPAddress] = []
    private(set) var count = 0

    func count(of network: IPAddress) -> Int { parts[network]?.count ?? 0 }

    /// The network that has most; of several the one whose turn is last.
    var largest: IPAddress? { order.reversed().max { count(of: $0) < count(of: $1) } }

    /// Changes the part of a network, which is behind the others if it is new.
    mutating func change<Value>(_ network: IPAddress, _ body: (inout Part) -> Value) -> Value {
        let before = count(of: network)
        if parts[network] == nil { order.append(network) }
        let value = body(&parts[network, default: Part()])
        count += count(of: network) - before
        if count(of: network) == 0 {
            parts[network] = nil
            order.removeAll { $0 == network }
        }
        return value
    }

    /// Takes from the part of the next network, which is the last one afterwards.
    mutating func takeTurn<Value>(_ body: (inout Part) -> Value?) -> Value? {
        guard let network = order.first else { return nil }
        let value = change(network, body)
        if order.first == network { order.append(order.removeFirst()) }
        return value
    }
}
