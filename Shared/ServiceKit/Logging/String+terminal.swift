extension String {
    /// The text for a terminal: escapes such as `\u001b` stand for control characters other than line breaks and tabs, and for
    /// characters that end a line or change the direction of what follows. A JSON text is the same JSON.
    package var terminalText: String {
        // Fast path: nearly every text is printable ASCII.
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return self }
        return unicodeScalars.map { scalar in
            guard scalar.isUnsafeInLine, scalar != "\n", scalar != "\t" else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it moves the cursor, ends the line, or changes the direction of the following text.
    package var isUnsafeInLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
