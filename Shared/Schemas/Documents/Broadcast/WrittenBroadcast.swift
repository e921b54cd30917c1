package import FoundationEssentials
package import Base

/// A broadcast as its author has sent it, in any form of the seeds.
package struct WrittenBroadcast: Sendable {
    package let draft: BroadcastDraft
    private let form: BroadcastForm
    private let document: JSONValue

    /// Reads a broadcast. Empty texts count as absent, as in the seeds' own examples, unless they say which phones get it; numbers may
    /// be texts of digits.
    ///
    /// - Throws: ``SchemaViolation`` that names the field as in the document.
    package init(_ json: Data) throws(SchemaViolation) {
        let written: JSONValue = try Self.read(json)
        guard written.members != nil else { throw SchemaViolation(field: "", problem: "expected an object") }
        document = written.withoutEmptyTexts
        form = try BroadcastForm(of: document)
        try form.checkFields(of: document)
        let agreed = try form.agreed(from: document)
        do throws(SchemaViolation) {
            draft = try Self.read(agreed.withNumbers.data)
        } catch {
            throw form.renamed(error, in: document)
        }
    }

    private static func read<Value: Decodable>(_ json: Data) throws(SchemaViolation) -> Value {
        do {
            return try JSONCoder.decodeStrictly(from: json)
        } catch let violation as SchemaViolation {
            throw violation
        } catch {
            throw SchemaViolation(field: "", problem: "not valid: \(error)")
        }
    }

    /// A violation of the draft, with the field's name as in the document.
    package func renamed(_ violation: SchemaViolation) -> SchemaViolation { form.renamed(violation, in: document) }

    /// The name that the document has for a field of the draft.
    package func renamed(_ field: String) -> String { form.renamed(field, in: document) }
}

extension BroadcastDraft {
    /// Reads a broadcast in any form of the seeds.
    ///
    /// - Throws: ``SchemaViolation`` that names the field as in the document.
    package init(anyForm json: Data) throws(SchemaViolation) { self = try WrittenBroadcast(json).draft }
}

extension BroadcastForm {
    /// The fields of this form, and the hub's additions; `nil` if reading the draft checks them.
    private var fields: [String]? {
        let additions = ["epoch", "lifetime", "channels", "condition", "repeat"]
        let first = ["actiontype", "notificationtype", "notificationid", "expiry", "channel"]
        return switch self {
        case .agreed: nil
        case .intermediate: ["id", "type", "expiry", "relative", "poster", "translations", "actiondata"] + additions
        case .display: first + ["type", "poster", "fields", "data", "popup"] + additions
        case .nonDisplay: first + ["data", "feature", "share", "group"] + additions
        }
    }

    fileprivate func checkFields(of document: JSONValue) throws(SchemaViolation) {
        guard let fields, let unknown = document.members?.first(where: { !fields.contains($0.name) }) else { return }
        throw SchemaViolation(
            field: String(unknown.name.unicodeScalars.prefix(40)),
            problem: "not a field of the form \"\(rawValue)\", which has: \(fields.joined(separator: ", "))")
    }

    /// A document of this form in the agreed one.
    fileprivate func agreed(from document: JSONValue) throws(SchemaViolation) -> JSONValue {
        var agreed = document
        var action = document["actiondata"] ?? .object([])
        func move(_ name: String, to other: String? = nil) {
            action[other ?? name] = agreed[name]
            agreed[name] = nil
        }
        func rename(_ name: String, _ other: String) {
            guard let value = agreed[name] else { return }
            agreed[name] = nil
            agreed[other] = value
        }
        switch self {
        case .agreed: return agreed.withLifetime
        case .intermediate:
            rename("relative", "relativetime")
            action = Self.actionData(of: document)
            for name in ["poster", "translations"] where document[name] != nil { move(name) }
            if agreed["type"] == nil {
                let isSwitch = action["notificationtype"]?.string?.hasSuffix("-feature") ?? false
                agreed["type"] = .integer((isSwitch ? BroadcastType.nonDisplay : .others).rawValue)
            }
        case .display:
            try Self.checkExpiry(of: document)
            let kind = agreed["notificationtype"]?.string
            move("notificationtype")
            agreed["type"] = .integer(try Self.type(of: kind).rawValue)
            action["cancellable"] = try document["type"].map { value throws(SchemaViolation) in try Self.isCancellable(value) }
            for name in ["poster", "data", "popup"] where document[name] != nil { move(name) }
            action["translations"] = try Self.translations(of: document["fields"])
            agreed["fields"] = nil
        case .nonDisplay:
            try Self.checkExpiry(of: document)
            agreed["type"] = .integer(BroadcastType.nonDisplay.rawValue)
            for name in ["notificationtype", "data", "feature", "share", "group"] where document[name] != nil { move(name) }
        }
        agreed["actiontype"] = nil
        rename("notificationid", "id")
        if let channel = agreed["channel"] {
            agreed["channel"] = nil
            agreed["channels"] = [channel]
        }
        agreed["actiondata"] = action
        return agreed.withLifetime
    }

    /// "Action data contains anything that is not present in the above parameters": an object, the JSON text of one, or plain text.
    private static func actionData(of document: JSONValue) -> JSONValue {
        guard let text = document["actiondata"]?.string else { return document["actiondata"] ?? .object([]) }
        if let parsed = try? JSONValue(parsing: Data(text.utf8)), parsed.members != nil { return parsed.withoutEmptyTexts }
        return ["data": .string(text)]
    }

    /// The first two forms count in milliseconds. A bare number would be minutes in the later ones.
    private static func checkExpiry(of document: JSONValue) throws(SchemaViolation) {
        guard let expiry = document["expiry"] else { return }
        guard let text = expiry.string, text.hasSuffix("millis"), Int64(text.dropLast(6)) != nil else {
            throw SchemaViolation(field: "expiry", problem: "expected milliseconds as a text, such as \"34646millis\"")
        }
    }

    private static func type(of notificationType: String?) throws(SchemaViolation) -> BroadcastType {
        switch notificationType {
        case "downtime": return .downtime
        case "festive": return .greetings
        case "general", "others": return .others
        default:
            throw SchemaViolation(
                field: "notificationtype", problem: "expected \"general\", \"festive\", \"downtime\" or \"others\"")
        }
    }

    private static func isCancellable(_ value: JSONValue) throws(SchemaViolation) -> JSONValue {
        switch value.string {
        case "cancellable": return true
        case "non-cancellable": return false
        default: throw SchemaViolation(field: "type", problem: "expected \"cancellable\" or \"non-cancellable\"")
        }
    }

    private static func translations(of fields: JSONValue?) throws(SchemaViolation) -> JSONValue {
        guard let fields, fields.elements?.isEmpty != true else {
            throw SchemaViolation(field: "fields", problem: "missing, expected a title and a msg for each language")
        }
        guard let elements = fields.elements else { throw SchemaViolation(field: "fields", problem: "expected an array") }
        var translations = JSONValue.object([])
        for (position, element) in elements.enumerated() {
            guard let language = element["language"]?.string, !language.isEmpty else {
                throw SchemaViolation(field: "fields[\(position)].language", problem: "missing, expected a language tag")
            }
            guard translations[language] == nil else {
                throw SchemaViolation(field: "fields[\(position)].language", problem: "\(language.prefix(40)) is there twice")
            }
            var texts = element
            texts["language"] = nil
            translations[language] = texts
        }
        return translations
    }

    /// A violation with the field's place in a document of this form.
    fileprivate func renamed(_ violation: SchemaViolation, in document: JSONValue) -> SchemaViolation {
        SchemaViolation(field: renamed(violation.field, in: document), problem: violation.problem, limit: violation.limit)
    }

    /// The place of a field of the agreed form in a document of this form.
    fileprivate func renamed(_ agreed: String, in document: JSONValue) -> String {
        var field = agreed
        func replace(_ prefix: String, by other: String) {
            guard field == prefix || field.hasPrefix(prefix + ".") || field.hasPrefix(prefix + "[") else { return }
            field = other + field.dropFirst(prefix.count)
        }
        if document["lifetime"] == nil { replace("lifetime", by: "expiry") }
        switch self {
        case .agreed: break
        case .intermediate:
            replace("relativetime", by: "relative")
            for name in ["poster", "translations"] { replace("actiondata.\(name)", by: name) }
            if field == "actiondata" { field = "translations" }
        case .display, .nonDisplay:
            replace("id", by: "notificationid")
            for (position, element) in (document["fields"]?.elements ?? []).enumerated() {
                let texts = "actiondata.translations.\(element["language"]?.string ?? "")"
                if field == texts { field = "fields[\(position)].language" } else { replace(texts, by: "fields[\(position)]") }
            }
            // A language that is missing has no place.
            if field == "actiondata" || field.hasPrefix("actiondata.translations") {
                field = self == .display ? "fields" : "data"
            }
            replace("actiondata.cancellable", by: "type")
            for name in ["notificationtype", "poster", "data", "popup", "feature", "share", "group"] {
                replace("actiondata.\(name)", by: name)
            }
            if document["channel"] != nil { replace("channels[0]", by: "channel") }
        }
        return field
    }
}

extension JSONValue {
    /// The fields that say which phones get a broadcast: an empty one is an error, since without it every phone gets it.
    private static let audience = ["channel", "channels", "condition", "group", "share"]

    /// Without the fields that are empty texts, here and in the action data, except ``audience``.
    fileprivate var withoutEmptyTexts: JSONValue {
        guard let members else { return self }
        return .object(
            members.compactMap { member in
                if member.value.string == "", !Self.audience.contains(member.name) { return nil }
                return member.name == "actiondata" ? Member(member.name, member.value.withoutEmptyTexts) : member
            })
    }

    /// With an expiry such as `34646millis`, which counts from the time of sending, as a lifetime.
    fileprivate var withLifetime: JSONValue {
        guard let text = self["expiry"]?.string, text.hasSuffix("millis"), let lifetime = Int64(text.dropLast(6)),
            self["lifetime"] == nil
        else { return self }
        var document = self
        document["expiry"] = nil
        document["lifetime"] = .integer(lifetime)
        return document
    }

    /// With numbers where the structure has some and a text has only digits.
    fileprivate var withNumbers: JSONValue {
        var document = self
        for name in ["id", "type", "relativetime", "expiry", "repeat"] {
            guard let text = self[name]?.string, let number = Int64(text) else { continue }
            document[name] = .integer(number)
        }
        return document
    }
}
