import Base
import Schemas

/// The code of a class's key: what a hall full of students types, with 40 random bits. It has no letters and digits that look
/// alike.
enum ClassCode {
    private static let characters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    private static let length = 8

    /// A new code as it is stored, such as `K7QF2M9X`.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<length).compactMap { _ in characters.randomElement(using: &generator) })
    }

    /// What people have typed, as a code is stored: hyphens, spaces and case make no difference.
    static func stored(_ key: Secret) -> String { key.codeDigits.uppercased() }

    /// A stored code as people see it, such as `K7QF-2M9X`.
    static func shown(_ code: String) -> Secret {
        Secret("\(code.prefix(length / 2))-\(code.dropFirst(length / 2))")
    }
}

extension ClassKeyDocument {
    var isUsedUp: Bool { uses.map { used >= $0 } ?? false }

    /// The key as the professor sees it.
    var view: ClassKey {
        ClassKey(
            id: id, role: role, code: ClassCode.shown(code), created: created, expires: expires, uses: uses, used: used)
    }
}
