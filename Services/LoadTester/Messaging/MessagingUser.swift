import Base
import Synchronization

/// A call that an app makes for a message.
enum MessagingCall: String, CaseIterable, Encodable, Sendable {
    /// Of the one who sends it.
    case write
    /// Of the one who gets it: the fetch that brings it, the word that the device has it, and that it was read.
    case fetch, confirm, read
}

/// A student of the load, with the app on one device.
final class MessagingUser: Sendable {
    private struct State {
        var after: Int64 = 0
        /// The messages that a fetch has brought, and that nobody has looked for yet.
        var arrived: Set<String> = []
    }

    let account: String
    let token: String
    private let state = Mutex(State())

    init(account: String, token: String) {
        self.account = account
        self.token = token
    }

    /// Up to which position the device has everything.
    var after: Int64 { state.withLock(\.after) }

    /// Learns from the answer to a fetch. Fetches of several messages may overtake each other.
    func got(_ news: JSONValue) {
        let own = (news["messages"]?.elements ?? []).filter { $0["to"]?.string == account }
        let ids = own.compactMap { $0["id"]?.string }
        let position = news["after"]?.integer ?? 0
        state.withLock { state in
            guard position > state.after else { return }
            state.after = position
            state.arrived.formUnion(ids)
        }
    }

    /// Whether a message has arrived. It is forgotten.
    func takes(_ message: String) -> Bool { state.withLock { $0.arrived.remove(message) != nil } }
}
