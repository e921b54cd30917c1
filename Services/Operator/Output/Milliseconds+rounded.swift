import Time

extension Milliseconds {
    /// For a person: `90 s`, `30 min`, `5 h` or `3 d`. A negative time is `0 s`.
    var rounded: String {
        let seconds = Swift.max(0, rawValue / 1_000)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}
