import JSON

extension JSONRules {
    /// The rules of Google's APIs: of repeated fields the last one counts, and the depth limit is that of protobuf's JSON.
    static let google = JSONRules(maxDepth: 100, allowsRepeatedNames: true, allowsNumbersOfAnySize: true)
}

extension JSONSyntaxError {
    /// The error in the words of Google's parser.
    ///
    /// - Parameter count: The document's length in bytes.
    func googleDescription(ofBytes count: Int) -> String {
        switch problem {
        case .expectedValue where position >= count: "Unexpected end of string. Expected a value."
        case .expectedValue, .byteOrderMark, .otherEncoding: "Expected a value."
        case .expectedEnd: "Expected end of string."
        case .expectedName, .repeatedName: "Expected an object key or }."
        case .expectedColon: "Expected : between key:value pair."
        case .expectedCommaOrBrace: "Expected , or } after key:value pair."
        case .expectedCommaOrBracket: "Expected , or ] after array value."
        case .unclosedText: "Closing quote expected in string."
        case .controlCharacter: "Invalid control character in string."
        case .unknownEscape: "Invalid escape sequence."
        case .expectedHexadecimalDigits: "Illegal hex string."
        case .halfOfSurrogatePair: "Invalid unicode code point."
        case .leadingZero: "Octal/hex numbers are not valid JSON values."
        case .expectedDigit, .numberDoesNotFit: "Unable to parse number."
        case .tooDeep: "Message too deep. Max recursion depth reached."
        case .notUTF8: "Encountered non UTF-8 code points."
        }
    }
}
