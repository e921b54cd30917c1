import MobileApp
import Synchronization

/// The pop-ups that the phone shows, the newest first.
final class Popups: Sendable {
    struct Popup: Hashable, Sendable {
        /// A later pop-up with the same one replaces it.
        let id: String
        /// What FCM has brought with it; empty for a pop-up of the app's own.
        let data: [String: String]
        let title: String
        let body: String
        /// Unix milliseconds, by the phone's clock.
        let at: Int64

        /// The message that it announces; `nil` if FCM did not say.
        var msiKey: String? { data["msi_key"] }
        /// As FCM has brought it.
        var message: PushMessage { PushMessage(notification: .init(title: title, body: body, tag: id), data: data) }
    }

    private struct State {
        var shown: [Popup] = []
        /// The data of the last notifications of FCM, by the tags of their pop-ups.
        var announced: [(tag: String, data: [String: String])] = []
    }

    private static let max = 50
    private let state = Mutex(State())

    var all: [Popup] { state.withLock(\.shown) }

    /// Remembers what a pop-up is about. The app shows some itself, and then says only the tag.
    func announce(_ data: [String: String], tag: String) {
        state.withLock { $0.announced = $0.announced.suffix(Self.max - 1) + [(tag, data)] }
    }

    /// The data of the last notification with a tag.
    func announced(_ tag: String) -> [String: String] {
        state.withLock { $0.announced.last { $0.tag == tag }?.data ?? [:] }
    }

    func show(_ popup: Popup) {
        state.withLock { state in
            state.shown.removeAll { $0.id == popup.id }
            state.shown.insert(popup, at: 0)
            state.shown.removeLast(Swift.max(0, state.shown.count - Self.max))
        }
    }

    func remove(_ id: String) { state.withLock { state in state.shown.removeAll { $0.id == id } } }

    func removeAll() { state.withLock { $0.shown = [] } }
}
