import Base
import NIOHTTP1
import Synchronization
package import WebPushKeys

/// A push service for tests: it takes pushes as a browser maker's does (RFC 8030), decrypts them with the keys of its browsers, and records
/// what has arrived. It can fail in the ways of push services.
package final class TestPushService: Sendable {
    /// How it answers pushes.
    package enum Behaviour: String, Hashable, Sendable {
        /// It takes them.
        case works
        /// 429, with a `Retry-After` of a second.
        case throttles
        /// 503.
        case fails
        /// It takes them, and closes their connections without an answer.
        case losesAnswers
        /// No answer until it behaves otherwise. Then it treats the waiting pushes like new ones, even if their sender has given up.
        case hangs
    }

    private struct Subscription {
        let keys: PushKeys
        var code: String?
        var isEnded = false
        var arrivals: [PushArrival] = []
        var personPushes: [PersonPushArrival] = []
        var refusals: [Int64] = []
    }

    private struct State {
        var port = 0
        var behaviour = Behaviour.works
        var subscriptions: [Subscription] = []
        /// The subscriptions by the names in their endpoints.
        var numbers: [String: Int] = [:]
        /// What waits for an answer.
        var waiting: [ReceivedPush] = []
        var unreadable = 0
    }

    private let state = Mutex(State())

    /// Its origin, without TLS.
    package var url: String { "http://127.0.0.1:\(state.withLock(\.port))" }

    /// The number of pushes that could not be decrypted or were not understood.
    package var unreadable: Int { state.withLock(\.unreadable) }

    func listens(on port: Int) {
        state.withLock { $0.port = port }
    }

    /// Makes a subscription for a browser.
    ///
    /// - Returns: Its number, from 0, and its endpoint.
    package func add(_ keys: PushKeys) -> (number: Int, endpoint: String) {
        let name = PushKeys.randomName()
        let number = state.withLock { state -> Int in
            state.subscriptions.append(Subscription(keys: keys))
            state.numbers[name] = state.subscriptions.count - 1
            return state.subscriptions.count - 1
        }
        return (number, url + ReceivedPush.path + name)
    }

    /// The code of a subscription's first push, once it has arrived.
    package func code(of number: Int) -> String? { state.withLock { $0.subscriptions[number].code } }

    /// The messages that a browser has got, in order, with second copies.
    package func arrivals(at number: Int) -> [PushArrival] { state.withLock { $0.subscriptions[number].arrivals } }

    /// The pushes to the person of a browser, in order, with second copies.
    package func personPushes(at number: Int) -> [PersonPushArrival] { state.withLock { $0.subscriptions[number].personPushes } }

    /// When pushes to a subscription were refused because it has ended, in Unix milliseconds.
    package func refusals(of number: Int) -> [Int64] { state.withLock { $0.subscriptions[number].refusals } }

    /// Whether ``end(_:)`` was called for a subscription.
    package func hasEnded(_ number: Int) -> Bool { state.withLock { $0.subscriptions[number].isEnded } }

    /// Ends a subscription: its sender gets 410 from now on.
    package func end(_ number: Int) {
        state.withLock { $0.subscriptions[number].isEnded = true }
    }

    /// Changes how it answers, from now on.
    package func behave(_ behaviour: Behaviour) {
        let released = state.withLock { state -> [ReceivedPush] in
            state.behaviour = behaviour
            guard behaviour != .hangs else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for push in released { receive(push) }
    }

    /// Treats a push, on any thread.
    func receive(_ push: ReceivedPush) {
        let behaviour = state.withLock { state -> Behaviour in
            if state.behaviour == .hangs { state.waiting.append(push) }
            return state.behaviour
        }
        switch behaviour {
        case .works: push.answer(take(push))
        case .throttles: push.answer(.tooManyRequests)
        case .fails: push.answer(.serviceUnavailable)
        case .losesAnswers:
            let status = take(push)
            if status == .created { push.closeConnection() } else { push.answer(status) }
        case .hangs: break
        }
    }

    /// Stores a push, if everything about it is right.
    private func take(_ push: ReceivedPush) -> HTTPResponseStatus {
        guard let number = state.withLock({ $0.numbers[push.name] }) else { return .notFound }
        let keys = state.withLock { state -> PushKeys? in
            guard state.subscriptions[number].isEnded else { return state.subscriptions[number].keys }
            state.subscriptions[number].refusals.append(.nowInMilliseconds)
            return nil
        }
        guard let keys else { return .gone }
        // Not under the lock: it takes a tenth of a millisecond.
        let text = try? keys.read(push.body)
        let document = text.flatMap { try? JSONValue(parsing: $0) }
        let own = document?["msi"]
        let (code, msiKey) = (own?["code"]?.string, own?["msi_key"]?.string)
        let title = document?["notification"]?["title"]?.string
        return state.withLock { state -> HTTPResponseStatus in
            if let code {
                state.subscriptions[number].code = code
            } else if let msiKey {
                state.subscriptions[number].arrivals.append(PushArrival(msiKey: msiKey, received: .nowInMilliseconds))
            } else if let kind = own?["kind"]?.string, let id = own?["id"]?.string, let title {
                state.subscriptions[number].personPushes.append(PersonPushArrival(kind: kind, id: id, title: title))
            } else {
                state.unreadable += 1
                return .badRequest
            }
            return .created
        }
    }
}

/// A push to a person that has reached a browser.
package struct PersonPushArrival: Hashable, Sendable {
    /// Such as `friend_request`.
    package let kind: String
    package let id: String
    /// What the notification shows.
    package let title: String
}

/// A message that has reached a browser.
package struct PushArrival: Hashable, Sendable {
    package let msiKey: String
    /// When the push service took it, in Unix milliseconds.
    package let received: Int64

    package init(msiKey: String, received: Int64) {
        self.msiKey = msiKey
        self.received = received
    }
}
