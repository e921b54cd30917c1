package import Base

/// The text of the canary's messages. In the last one `msi status` and `msi doctor` read how pushes arrive at the canary.
package struct CanaryText: Hashable, Sendable, CustomStringConvertible {
    /// How the last push to the canary has ended.
    package enum Push: Hashable, Sendable {
        /// - Parameter after: The time since the post.
        case arrived(after: Milliseconds)
        case missing(reason: String)
    }

    package let sent: UnixMilliseconds
    /// `nil` if the canary has no Web Push subscription.
    package let push: Push?

    /// In characters.
    private static let maxReason = 300

    package init(sent: UnixMilliseconds, push: Push?) {
        self.sent = sent
        self.push = push
    }

    /// - Returns: `nil` for the text of another message.
    package init?(_ text: String) {
        guard let head = text.prefixMatch(of: /Sent at ([0-9]{1,15})\./), let sent = Int64(head.1) else { return nil }
        self.sent = UnixMilliseconds(rawValue: sent)
        let rest = text[head.range.upperBound...].dropFirst()
        if let match = rest.wholeMatch(of: /The last push took ([0-9]{1,9}) ms\./), let time = Int64(match.1) {
            push = .arrived(after: Milliseconds(rawValue: time))
        } else {
            push = rest.wholeMatch(of: /No push arrives: (.+)/).map { Push.missing(reason: String($0.1)) }
        }
    }

    package var description: String {
        let head = "Sent at \(sent.rawValue)."
        switch push {
        case .arrived(let time): return "\(head) The last push took \(time.rawValue) ms."
        case .missing(let reason):
            // Reasons quote other programs, and messages have no control characters.
            let characters = reason.prefix(Self.maxReason).unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .control ? " " : String(scalar)
            }
            return "\(head) No push arrives: \(characters.joined())"
        case nil: return head
        }
    }
}
