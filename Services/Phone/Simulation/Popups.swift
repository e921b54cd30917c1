import MobileApp
import Synchronization

/// The pop-ups that the phone shows, the newest first.
final class Popups: Sendable {
    struct Popup: Hashable, Sendable {
        /// A later pop-up with the same one replaces it.
        let id: String
        /// What a tap passes to the app, as FCM has brought it; empty for a pop-up that is about nothing that FCM brings.
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

    private static let max = 50
    private let shown = Mutex<[Popup]>([])

    var all: [Popup] { shown.withLock(\.self) }

    func show(_ popup: Popup) {
        shown.withLock { shown in
            shown.removeAll { $0.id == popup.id }
            shown.insert(popup, at: 0)
            shown.removeLast(Swift.max(0, shown.count - Self.max))
        }
    }

    func remove(_ id: String) { shown.withLock { shown in shown.removeAll { $0.id == id } } }

    func removeAll() { shown.withLock { $0 = [] } }
}
