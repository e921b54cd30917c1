import JSON
import Schemas

/// A broadcast as the communicator has left it, by the hub's answers.
struct SentBroadcast: Hashable, Sendable {
    let id: Int64
    var title: String
    /// The number of edits that were answered with 200.
    var edits = 0
    var isWithdrawn = false
}

/// A broadcast in the hub's log at the end of a run.
struct LoggedBroadcast: Hashable, Sendable {
    let id: Int64
    let title: String
    /// `active` or `withdrawn`, if the hub is right.
    let state: String
    /// The state of its last push, or of the push of its withdrawal; `nil` if there was none.
    let push: RelayState?
    /// The error of that push.
    let failure: String?

    /// Whether no push of it is on its way. What was withdrawn before its first push has none.
    var isAtRest: Bool { push.map { ![.pending, .retrying].contains($0) } ?? (state == "withdrawn") }
}

extension LoggedBroadcast {
    /// - Parameter answer: That of `GET /broadcast/:id`.
    /// - Returns: `nil` if a field is missing.
    init?(_ answer: JSONValue) {
        guard let id = answer["id"]?.integer, let state = answer["state"]?.string,
            let title = answer["actiondata"]?["translations"]?["en"]?["title"]?.string
        else { return nil }
        self.init(
            id: id, title: title, state: state, push: answer["pushed"]?["state"]?.string.flatMap(RelayState.init),
            failure: answer["pushed"]?["failed"]?.string)
    }
}
