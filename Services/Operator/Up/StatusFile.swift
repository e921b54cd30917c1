import FoundationEssentials
import ServiceKit

/// What a child of `msi up` has last told its manager about itself (`STATUS` in sd_notify(3)), in a file beside its log. So `msi doctor` knows
/// it as it knows the status of a unit.
struct StatusFile: Sendable {
    let path: String

    private static let field = "STATUS="
    private static let ended = "ended: "
    private static let maxBytes = 4_096

    /// - Parameter directory: The folder of the logs.
    init(of service: ServiceEntry, in directory: String) {
        path = "\(directory)/\(service.executable).status"
    }

    /// The last status among the lines of a notification; `nil` if it has none.
    static func status(in notification: [String]) -> String? {
        notification.last { $0.hasPrefix(field) }.map { String($0.dropFirst(field.count)) }
    }

    /// The text of a child that has ended and is started again.
    static func text(ofEnd end: String) -> String { ended + end }

    /// The end that a text is about; `nil` for what the child itself has told.
    static func end(in text: String) -> String? { text.hasPrefix(ended) ? String(text.dropFirst(ended.count)) : nil }

    /// Replaces the text.
    ///
    /// - Returns: Whether it is written. Nothing depends on it, so a full disk is no error; it can be tried again later.
    func write(_ text: String) -> Bool {
        do {
            try Data((text + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
            return true
        } catch {
            return false
        }
    }

    /// The text; `nil` if there is none, or this user cannot read it.
    func read() -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return String(decoding: data.prefix(Self.maxBytes), as: UTF8.self).split(separator: "\n").first.map(String.init)
    }

    /// The next child has told nothing yet.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
