import GRDB
import Schemas

/// A message on the phone: a row of the seed's table, with the student's marks.
public struct StoredMessage: Hashable, Sendable, Identifiable {
    /// The message's identifier, which never occurs twice on a phone.
    public let msiKey: String
    /// The subject's topic. Its first part is the channel's identifier.
    public let topicKey: String
    /// "Alert" or "Information".
    public let dist: String
    public var title: String
    /// The text of the pop-up; empty for Information.
    public var desc: String
    public var message: String
    /// When it was sent, in Unix milliseconds.
    public let timestamp: Int64
    /// The student keeps it: it is not cleared after a week.
    public var isKept = false
    public var isRead = false
    /// The texts that FCM could not carry and that the phone has not fetched yet: "message", "desc".
    public var omitted: [String] = []
    /// Whether the hub no longer has the omitted texts.
    public var isTextLost = false
    /// The message that it corrects; `nil` for none. A message with several corrections is named by all of them.
    public var corrects: String?
    /// The address that it leads to, of `https`, `tel` or `mailto`; `nil` for none.
    public var link: String?
    /// The newest correction of it; `nil` for none. It may have been deleted since.
    public var correctedBy: String?

    public var id: String { msiKey }
    public var isAlert: Bool { dist == "Alert" }
    /// The tag of its pop-up, as FCM's pop-ups have it: that of a correction replaces the one of the corrected message.
    var popupTag: String { corrects ?? msiKey }

    public init(
        msiKey: String, topicKey: String, dist: String, title: String, desc: String, message: String, timestamp: Int64,
        omitted: [String] = [], corrects: String? = nil, link: String? = nil
    ) {
        self.msiKey = msiKey
        self.topicKey = topicKey
        self.dist = dist
        self.title = title
        self.desc = desc
        self.message = message
        self.timestamp = timestamp
        self.omitted = omitted
        self.corrects = corrects
        self.link = link
    }

    /// Reads the seed's seven data fields, and ours: `omitted`, `corrects` and `link`. A link that a phone does not open is left out.
    ///
    /// - Returns: `nil` if one of the seven is missing or wrong: such a message is of another program.
    init?(data: [String: String]) {
        let omitted = data["omitted"].map { $0.split(separator: ",").map(String.init) } ?? []
        func text(_ name: String) -> String? { data[name] ?? (omitted.contains(name) ? "" : nil) }
        guard let msiKey = data["msi_key"], !msiKey.isEmpty, let topicKey = data["topic_key"], let dist = data["dist"],
            let title = data["title"], let desc = text("desc"), let message = text("message"),
            let timestamp = data["timestamp"].flatMap(Int64.init)
        else { return nil }
        self.init(
            msiKey: msiKey, topicKey: topicKey, dist: dist, title: title, desc: desc, message: message, timestamp: timestamp,
            omitted: omitted, corrects: data["corrects"], link: data["link"].flatMap(Self.safeLink))
    }

    private static let maxLinkLength = 1_000

    /// - Returns: The address if it is one of `https` with a host and without a user, or one of `tel` or `mailto` that the hub takes.
    private static func safeLink(_ text: String) -> String? {
        guard text.count <= maxLinkLength, !text.contains(where: \.isWhitespace) else { return nil }
        if text.hasPrefix("tel:") || text.hasPrefix("mailto:") { return LinkAddress.problem(with: text) == nil ? text : nil }
        let scheme = "https://"
        guard text.hasPrefix(scheme) else { return nil }
        // A backslash is a slash for browsers.
        let authority = text.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        return authority.isEmpty || authority.contains("@") ? nil : text
    }

    init(row: Row) {
        self.init(
            msiKey: row["msi_key"], topicKey: row["topic_key"], dist: row["dist"], title: row["title"], desc: row["desc"],
            message: row["message"], timestamp: row["timestamp"],
            omitted: (row["omitted"] as String? ?? "").split(separator: ",").map(String.init), corrects: row["corrects"],
            link: row["link"])
        correctedBy = row["corrected_by"]
        isTextLost = !omitted.isEmpty && row["lost"] ?? false
        isKept = row["kept"] ?? false
        isRead = row["read"] ?? false
    }
}
