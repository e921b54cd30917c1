package import Base

/// An invalid JSON document, as from a careless or malicious sender.
package struct SpoiltDocument: Sendable {
    package let fault: Fault
    package let bytes: [UInt8]

    package enum Fault: CaseIterable, Sendable {
        case truncated, empty, notAnObject, trailing, notJSON, trailingComma, byteOrderMark, otherEncoding
        case missingField, extraField, nullField, wrongType, duplicateField
        case hugeNumber, deepNesting, openNesting, badUTF8, loneSurrogate, rawNUL, escapedNUL, giantText
    }
}

/// A valid document, from which invalid ones are made.
package struct SampleDocument: Sendable {
    package struct Field: Sendable {
        let name: String
        let json: String
        let isOptional: Bool

        package init(_ name: String, _ json: String, isOptional: Bool = false) {
            self.name = name
            self.json = json
            self.isOptional = isOptional
        }
    }

    package let fields: [Field]

    package init(_ fields: [Field]) {
        self.fields = fields
    }

    /// The valid document.
    package var bytes: [UInt8] { Self.bytes(fields.map { ($0.name, Array($0.json.utf8)) }) }

    /// The document with one fault at a random place.
    ///
    /// - Parameter giant: The size of a giant text, in bytes.
    package func spoilt(
        by fault: SpoiltDocument.Fault, giant: Int = 50_000, using generator: inout SeededGenerator
    ) -> SpoiltDocument {
        SpoiltDocument(fault: fault, bytes: bytes(with: fault, giant: giant, &generator))
    }

    private func bytes(with fault: SpoiltDocument.Fault, giant: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let victim = Int.random(in: 0..<fields.count, using: &generator)
        func replacing(_ json: [UInt8]) -> [UInt8] {
            Self.bytes(fields.enumerated().map { ($1.name, $0 == victim ? json : Array($1.json.utf8)) })
        }
        func replacing(_ json: String) -> [UInt8] { replacing(Array(json.utf8)) }
        func any(of choices: [String]) -> String {
            choices[Int.random(in: 0..<choices.count, using: &generator)]
        }

        switch fault {
        case .truncated: return Array(bytes.prefix(Int.random(in: 1..<bytes.count, using: &generator)))
        case .empty: return Array(any(of: ["", " ", "\n\n"]).utf8)
        case .notAnObject: return Array(any(of: ["[]", "7", "null", "true", "\"text\"", "[{}]"]).utf8)
        case .trailing: return bytes + Array(any(of: ["}", "{}", "x", ",", "\u{0}", "//"]).utf8)
        case .notJSON: return Array(any(of: ["{'name':'x'}", "{name:1}", "<a/>", "NaN", "{,}", "a=b&c=d", "{\"a\":}"]).utf8)
        case .trailingComma:
            let list = replacing("[1,]")
            return Bool.random(using: &generator) ? bytes.dropLast() + Array(",}".utf8) : list
        case .byteOrderMark: return [0xEF, 0xBB, 0xBF] + bytes
        case .otherEncoding:
            // UTF-16 and UTF-32, with a byte order mark and without.
            let width = any(of: ["2", "4"]) == "2" ? 2 : 4
            let mark: [UInt8] =
                any(of: ["mark", "none"]) == "mark" ? [0xFF, 0xFE] + [UInt8](repeating: 0, count: width - 2) : []
            return mark + bytes.flatMap { [$0] + [UInt8](repeating: 0, count: width - 1) }
        case .missingField: return Self.bytes(fields.filter { !$0.isOptional }.dropLast().map { ($0.name, Array($0.json.utf8)) })
        case .extraField: return Self.bytes(fields.map { ($0.name, Array($0.json.utf8)) } + [("surprise", Array("1".utf8))])
        case .nullField: return replacing("null")
        case .wrongType: return replacing(any(of: ["[]", "true", "[\"x\"]", "[[1]]", "[{\"a\":[null]}]"]))
        case .duplicateField:
            // The same name, plain or escaped.
            let name = fields[victim].name
            let escaped = "\\u00" + String(name.utf8.first ?? 0, radix: 16) + name.dropFirst()
            return Self.bytes(
                fields.map { ($0.name, Array($0.json.utf8)) } + [(any(of: [name, escaped]), Array(fields[victim].json.utf8))])
        case .hugeNumber:
            return replacing(any(of: ["1e999", "-1e999", "9999999999999999999999999", "-9223372036854775809", "0.5e-400", "-"]))
        case .deepNesting:
            let depth = giant / 2
            return replacing(
                [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth))
        case .openNesting: return replacing(String(repeating: any(of: ["[", "{\"a\":", "[{\"a\":"]), count: giant / 8))
        case .badUTF8:
            let sequences: [[UInt8]] = [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]]
            return replacing([0x22, 0x61] + sequences[Int.random(in: 0..<sequences.count, using: &generator)] + [0x22])
        case .loneSurrogate: return replacing(any(of: ["\"\\ud800\"", "\"\\udc00x\"", "\"\\ud83d\\u0041\""]))
        case .rawNUL: return replacing([0x22, 0x61, 0x00, 0x62, 0x22])
        case .escapedNUL: return replacing("\"a\\u0000b\"")
        case .giantText: return replacing("\"" + String(repeating: any(of: ["x", "\\n", "é"]), count: giant / 2) + "\"")
        }
    }

    private static func bytes(_ fields: [(String, [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, (name, json)) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += Array("\"\(name)\":".utf8) + json
        }
        return bytes + [UInt8(ascii: "}")]
    }
}
