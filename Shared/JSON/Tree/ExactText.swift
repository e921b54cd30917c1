/// A text that equals another one if their bytes are the same, as the texts of JSON do (RFC 8259, section 8.3).
///
/// Swift's `String` compares by canonical equivalence: to it, "é" equals an "e" with a combining accent.
package struct ExactText: Hashable, Sendable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: Self, other: Self) -> Bool {
        // The first comparison is fast, and fails for most texts that are not equal.
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        let isDone = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) } != nil
        if !isDone { for byte in text.utf8 { hasher.combine(byte) } }
    }
}
