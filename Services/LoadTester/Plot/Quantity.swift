import Glibc

/// Short forms of numbers for a plot, with their units.
enum Quantity {
    /// `0.5 ms`, `20 ms`, `1.5 s`.
    static func latency(milliseconds: Double) -> String {
        switch milliseconds {
        case 0: "0"
        case 1_000...: "\(number(milliseconds / 1_000)) s"
        case 1...: "\(number(milliseconds)) ms"
        default: "\(number(milliseconds * 1_000)) µs"
        }
    }

    /// `30 s`, `2 min`, `6 h`.
    ///
    /// - Parameter longest: The longest time on the same axis, which decides the unit.
    static func time(seconds: Double, upTo longest: Double? = nil) -> String {
        guard seconds != 0 else { return "0" }
        return switch longest ?? seconds {
        case 7_200...: "\(number(seconds / 3_600)) h"
        case 120...: "\(number(seconds / 60)) min"
        default: "\(number(seconds)) s"
        }
    }

    /// `2,000`; three significant digits or more.
    static func number(_ value: Double, digits: Int = 3) -> String {
        guard value.isFinite, value != 0 else { return "0" }
        let digits = max(0, digits - 1 - Int(log10(value.magnitude).rounded(.down)))
        let factor = Double("1e\(digits)") ?? 1
        let rounded = value.magnitude >= 1_000 ? value.rounded() : (value * factor).rounded() / factor
        let text = rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        return grouped(text)
    }

    private static func grouped(_ text: String) -> String {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let whole = parts.first, whole.count > 3 else { return text }
        var groups: [Substring] = []
        var rest = whole[...]
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return groups.joined(separator: ",") + (parts.count > 1 ? ".\(parts[1])" : "")
    }
}
