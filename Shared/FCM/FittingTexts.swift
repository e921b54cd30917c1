import Schemas

/// The texts of one component in a form that fits FCM's limit.
///
/// A text of 1,500 characters may have 6,000 bytes, and FCM refuses messages of more than 4,096. So data that does not fit leaves
/// out `message`, then also `desc`; the phone fetches them from the hub (`POST /message/since`). A pop-up's body is cut.
struct FittingTexts: Hashable, Sendable {
    /// The pop-up's body, or the data's `desc`; `nil` if it is left out.
    private(set) var desc: String?
    /// `nil` for a notification, or if it is left out.
    private(set) var message: String?
    /// The value of the data field `omitted`, such as "message,desc": what the phone fetches.
    private(set) var omitted: String?
    /// The payload in this form.
    private(set) var bytes: Int

    /// The end of a body that was cut.
    private static let ellipsis = "…"

    /// - Parameter limit: In bytes. If not even the smallest form fits, that is the result.
    init(_ component: Component, of relayed: RelayMessage, within limit: Int) {
        let draft = relayed.draft
        desc = draft.desc
        bytes = FCMMessage.payloadBytes(component, of: relayed)
        switch component {
        case .notification:
            if bytes > limit { cutBody(to: limit) }
        case .data:
            message = draft.message
            if bytes > limit { omit("message", draft.message) }
            if bytes > limit { omit("desc", draft.desc) }
        }
    }

    private mutating func cutBody(to limit: Int) {
        guard let body = desc else { return }
        let rest = bytes - body.utf8.count
        let cut = body.prefix(bytes: limit - rest - Self.ellipsis.utf8.count) + Self.ellipsis
        bytes = rest + cut.utf8.count
        desc = cut
    }

    private mutating func omit(_ name: String, _ text: String) {
        if let omitted {
            self.omitted = "\(omitted),\(name)"
            bytes += 1 + name.utf8.count
        } else {
            omitted = name
            bytes += "omitted".utf8.count + name.utf8.count
        }
        bytes -= name.utf8.count + text.utf8.count
        if name == "desc" { desc = nil } else { message = nil }
    }
}

extension String {
    /// As many whole characters as fit, without white space at the end.
    ///
    /// - Parameter bytes: The room; none if it is negative.
    fileprivate func prefix(bytes: Int) -> String {
        var (end, used) = (startIndex, 0)
        for index in indices {
            used += self[index].utf8.count
            guard used <= bytes else { break }
            end = self.index(after: index)
        }
        var kept = self[..<end]
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return String(kept)
    }
}
