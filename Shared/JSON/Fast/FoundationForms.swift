import FoundationEssentials

/// The types that Foundation's coders write in a form of their own, whatever the types themselves say.
enum FoundationForms {
    static func has(_ type: any Any.Type) -> Bool {
        type == Data.self || type == Date.self || type == Decimal.self || type == URL.self
    }
}
