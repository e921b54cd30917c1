import JSON

/// The forms that a broadcast had on its way to the agreed structure (seeds 001 and 004). All are read and written.
package enum BroadcastForm: String, ClosedEnum {
    /// "the below JSON structure for notifications is agreed upon": `id`, `type`, `relativetime`, `epoch`, `expiry`, `actiondata`.
    case agreed
    /// With `relative`, `poster` and `translations` at the top, and `actiondata` as text.
    case intermediate
    /// "Payload for display messages": `actiontype` is `display`, with `fields` and a lifetime such as `34646millis`.
    case display
    /// "Payload for non-display messages": `actiontype` is `non-display`.
    case nonDisplay = "non-display"

    /// The form of a document. Our additions to a form stand beside its own fields.
    init(of document: JSONValue) throws(SchemaViolation) {
        if let action = document["actiontype"] {
            switch action.string {
            case "display": self = .display
            case "non-display": self = .nonDisplay
            default: throw SchemaViolation(field: "actiontype", problem: "expected \"display\" or \"non-display\"")
            }
        } else {
            let isIntermediate =
                ["relative", "poster", "translations"].contains { document[$0] != nil } || document["actiondata"]?.members == nil
            self = isIntermediate && document["relativetime"] == nil ? .intermediate : .agreed
        }
    }
}
