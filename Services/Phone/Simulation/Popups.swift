import Synchronization

/// The pop-ups that the phone shows, the newest first.
final class Popups: Sendable {
    struct Popup: Hashable, Sendable {
        /// A later pop-up with the same one replaces it.
        let id: String
        /// The message that it announces; `nil` for none.
        let msiKey: String?
        let title: String
        let body: String
        /// Unix milliseconds, by the phone's clock.
        let at: Int64
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
