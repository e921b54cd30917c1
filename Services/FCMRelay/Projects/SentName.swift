/// FCM's name for an accepted message, as a history of many keeps it. ``SentNames`` makes it, and reads it.
enum SentName: Sendable {
    /// The id of a message to a topic or condition.
    case number(UInt64)
    /// The id of a message to one phone, `0:<time>%<random>`.
    case phone(time: UInt64, random: UInt64)
    /// A name of another form.
    case other(String)
}

/// Makes FCM's names small: `projects/P/messages/1234` and `projects/P/messages/0:1500415314455276%31bd1c9631bd1c96` take 17 bytes each,
/// and as text more than a hundred with their allocation. Pure.
struct SentNames: Sendable {
    /// What all names of a project begin with, up to the last slash; `nil` before the first name.
    private var prefix: String?

    /// - Parameter name: Any text.
    mutating func compact(_ name: String) -> SentName {
        let utf8 = name.utf8
        if prefix == nil, let slash = utf8.lastIndex(of: UInt8(ascii: "/")) { prefix = String(name[...slash]) }
        guard let prefix, utf8.starts(with: prefix.utf8) else { return .other(name) }
        return Self.id(utf8.dropFirst(prefix.utf8.count)) ?? .other(name)
    }

    /// The same text that was made small.
    func text(of name: SentName) -> String {
        let prefix = prefix ?? ""
        switch name {
        case .number(let number): return "\(prefix)\(number)"
        case .phone(let time, let random):
            let digits = String(random, radix: 16)
            return "\(prefix)0:\(time)%\(String(repeating: "0", count: Self.randomDigits - digits.utf8.count))\(digits)"
        case .other(let text): return text
        }
    }

    private static let randomDigits = 16

    /// Reads an id; `nil` if its text could not be made again from what was read.
    private static func id(_ text: Substring.UTF8View) -> SentName? {
        guard text.starts(with: "0:".utf8) else { return number(text).map(SentName.number) }
        let parts = text.dropFirst(2)
        guard let percent = parts.firstIndex(of: UInt8(ascii: "%")), let time = number(parts[..<percent]),
            let random = random(parts[percent...].dropFirst())
        else { return nil }
        return .phone(time: time, random: random)
    }

    /// A decimal number without leading zeros. Nineteen digits always fit.
    private static func number(_ text: Substring.UTF8View) -> UInt64? {
        guard (1...19).contains(text.count), text.first != UInt8(ascii: "0") || text.count == 1 else { return nil }
        var number: UInt64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    private static func random(_ text: Substring.UTF8View) -> UInt64? {
        guard text.count == randomDigits else { return nil }
        var number: UInt64 = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
