import FoundationEssentials
import Base
import Schemas
import Synchronization
import WebPushKeys

/// Where the pushes of the canary's subscription arrive.
final class PushInbox: Sendable {
    /// A subscription's keys and the path of its endpoint.
    struct Address: Sendable {
        let name = PushKeys.randomName()
        let keys = PushKeys()
    }

    /// What became of a push.
    enum Outcome: Hashable, Sendable {
        case taken
        /// The path is that of an earlier subscription, or of none.
        case unknownPath
        /// It is not encrypted for the subscription, or is not understood.
        case unreadable
    }

    private struct Payload: Decodable {
        struct Own: Decodable {
            let code: Secret?
            let msiKey: ObjectID?

            private enum CodingKeys: String, CodingKey {
                case code
                case msiKey = "msi_key"
            }
        }

        let msi: Own
    }

    private struct State {
        var address: Address?
        var code: Secret?
        var arrivals: [ObjectID: ContinuousClock.Instant] = [:]
    }

    /// How long an arrival is remembered: longer than the canary waits for a message.
    private static let memory = Duration.seconds(3_600 * 2)

    private let state = Mutex(State())
    private let onArrival: @Sendable (ObjectID) -> Void

    /// - Parameter onArrival: Is called once for each message.
    init(onArrival: @escaping @Sendable (ObjectID) -> Void = { _ in }) {
        self.onArrival = onArrival
    }

    /// Makes a new address. The earlier one takes no more pushes.
    func renew() -> Address {
        let address = Address()
        state.withLock { ($0.address, $0.code) = (address, nil) }
        return address
    }

    /// The code of the first push to the address.
    var code: Secret? { state.withLock(\.code) }

    /// When the first push of a message arrived; `nil` if none has.
    func arrival(of msiKey: ObjectID) -> ContinuousClock.Instant? { state.withLock { $0.arrivals[msiKey] } }

    func take(_ body: Data, at name: String, now: ContinuousClock.Instant = .now) -> Outcome {
        guard let address = state.withLock(\.address), address.name == name else { return .unknownPath }
        guard let text = try? address.keys.read(body), let own = try? JSONCoder.decode(Payload.self, from: text).msi else {
            return .unreadable
        }
        let isNew = state.withLock { state in
            // The address may have been renewed since.
            if let code = own.code, state.address?.name == name { state.code = code }
            guard let msiKey = own.msiKey, state.arrivals[msiKey] == nil else { return false }
            state.arrivals = state.arrivals.filter { now - $0.value < Self.memory }
            state.arrivals[msiKey] = now
            return true
        }
        if isNew, let msiKey = own.msiKey { onArrival(msiKey) }
        return .taken
    }
}
