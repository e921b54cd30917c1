import FoundationEssentials
package import Base

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

extension Broadcast {
    /// The broadcast in a form of the seeds, without what the hub adds.
    ///
    /// What a form has no field for is added under the hub's own names: sent again, the document makes the same broadcast.
    ///
    /// - Throws: ``SchemaViolation`` if that form cannot say it: what is shown has no non-display form, and the other way round.
    package func document(in form: BroadcastForm) throws -> JSONValue {
        switch form {
        case .agreed:
            var document = laterForm
            document["actiondata"] = try JSONValue(encoding: actionData)
            return withAdditions(document)
        case .intermediate:
            var rest = actionData
            (rest.poster, rest.translations) = (nil, nil)
            var document = laterForm
            document["actiondata"] = .string(String(decoding: try JSONCoder.encode(rest), as: UTF8.self))
            document["poster"] = actionData.poster.map { .string($0) }
            document["translations"] = try actionData.translations.map { try JSONValue(encoding: $0) }
            return withAdditions(document)
        case .display:
            guard type != .nonDisplay else { throw unsayable("display") }
            var document = oldForm("display")
            document["type"] = .string(actionData.cancellable == false ? "non-cancellable" : "cancellable")
            document["poster"] = actionData.poster.map { .string($0) }
            document["fields"] = .array(
                (actionData.translations ?? [:]).sorted { $0.key < $1.key }.map { language, texts in
                    ["language": .string(language), "title": .string(texts.title), "msg": .string(texts.msg)]
                })
            document["popup"] = actionData.popup.map { .boolean($0) }
            document["data"] = actionData.data.map { .string($0) }
            return withAdditions(document)
        case .nonDisplay:
            guard type == .nonDisplay else { throw unsayable("non-display") }
            var document = oldForm("non-display")
            document["feature"] = actionData.feature.map { .string($0) }
            document["share"] = actionData.share.map { .integer($0) }
            document["group"] = actionData.group.map { .string($0.rawValue) }
            document["data"] = actionData.data.map { .string($0) }
            return withAdditions(document)
        }
    }

    /// What the last two forms have in common.
    private var laterForm: JSONValue {
        var document: JSONValue = [
            "id": .integer(id), "type": .integer(type.rawValue), "epoch": .string(epoch.text), "expiry": .integer(expiry),
        ]
        document["lifetime"] = lifetime.map { .integer($0.rawValue) }
        return document
    }

    /// The fields that the seed's first two forms share.
    private func oldForm(_ action: String) -> JSONValue {
        let kind = actionData.notificationType ?? type.notificationTypes[0]
        return [
            "actiontype": .string(action), "notificationtype": .string(kind.rawValue), "notificationid": .string("\(id)"),
            "expiry": .string("\(expires - starts)millis"), "epoch": .string(epoch.text),
        ]
    }

    private func withAdditions(_ document: JSONValue) -> JSONValue {
        var document = document
        if let channel = channels?.first, channels?.count == 1, document["actiontype"] != nil {
            document["channel"] = .string(channel.description)
        } else {
            document["channels"] = channels.map { .array($0.map { .string($0.description) }) }
        }
        document["condition"] = condition.map { .string($0) }
        document["repeat"] = repetition.map { .integer($0) }
        return document
    }

    private func unsayable(_ form: String) -> SchemaViolation {
        SchemaViolation(
            field: "form", problem: "broadcast \(id) has type \(type.rawValue), which the form \"\(form)\" cannot say")
    }
}
