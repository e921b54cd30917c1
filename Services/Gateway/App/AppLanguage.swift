import Base

/// A language of the student's app.
enum AppLanguage: String, ClosedEnum {
    case en, ar

    var isRightToLeft: Bool { self == .ar }

    /// The language that a browser prefers; English if it accepts none.
    ///
    /// - Parameter accepted: The request's `Accept-Language`.
    init(accepted: String?) {
        let qualities = Qualities(accepted ?? "").values
        /// "ar-EG" is Arabic, too.
        func quality(of language: AppLanguage) -> Double {
            qualities.filter { $0.key.prefix { $0 != "-" } == language.rawValue }.values.max() ?? 0
        }
        self = quality(of: .ar) > quality(of: .en) ? .ar : .en
    }
}
