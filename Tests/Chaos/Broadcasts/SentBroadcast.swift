import Base
import Schemas

/// A broadcast as the communicator has left it, by the hub's answers.
struct SentBroadcast: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A card, which each phone shows.
        case card
        /// A switch of ``SentBroadcast/feature``.
        case featureSwitch
    }

    /// The feature that is switched on for a share of the phones.
    static let feature = "maps"

    let id: Int64
    /// A switch has the feature's name.
    var title: String
    var kind = Kind.card
    /// The number of edits that were answered with 200.
    var edits = 0
    var isWithdrawn = false
    /// Whether it is for a channel now of which no phone follows anything.
    var isMoved = false
    /// Whether it expires during the run.
    var isShort = false

    /// Its state at the end, as in the hub's log.
    var finalState: String { isWithdrawn ? "withdrawn" : isShort ? "expired" : "active" }
    /// Whether each phone shows it at the end.
    var isShown: Bool { kind == .card && finalState == "active" && !isMoved }
}

/// A broadcast in the hub's log at the end of a run.
struct LoggedBroadcast: Hashable, Sendable {
    let id: Int64
    let title: String
    /// `active`, `expired` or `withdrawn`, if the hub is right.
    let state: String
    /// The state of its last push, or of the push of its withdrawal; `nil` if there was none.
    let push: RelayState?
    /// The error of that push.
    let failure: String?

    /// Whether no push of it is on its way. What was over before its first push has none.
    var isAtRest: Bool { push.map { ![.pending, .retrying].contains($0) } ?? (state != "active") }
}

extension LoggedBroadcast {
    /// - Parameter answer: That of `GET /broadcast/:id`.
    /// - Returns: `nil` if a field is missing.
    init?(_ answer: JSONValue) {
        guard let id = answer["id"]?.integer, let state = answer["state"]?.string,
            let data = answer["actiondata"], let title = (data["translations"]?["en"]?["title"] ?? data["feature"])?.string
        else { return nil }
        self.init(
            id: id, title: title, state: state, push: answer["pushed"]?["state"]?.string.flatMap(RelayState.init),
            failure: answer["pushed"]?["failed"]?.string)
    }
}
