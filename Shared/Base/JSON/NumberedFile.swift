package import FoundationEssentials

/// A JSON file that the product keeps, with the number of its form in the field `format`.
///
/// A form that the version before cannot read gets the next number ("Versions" in Shared/Store/README.md), and the earlier ones are read
/// as well. New optional fields do not change the number: readers ignore what they do not know.
package protocol NumberedFile: Codable {
    static var formats: FormatVersions { get }
}

extension NumberedFile {
    /// Reads a file.
    ///
    /// - Parameter path: The file's name, for the error.
    /// - Throws: ``UnknownFormat`` if another version has written it in a form that this version does not know; ``SchemaViolation``
    ///   if it has no number or is damaged.
    package static func read(_ data: Data, from path: String) throws -> Self {
        let number = try JSONCoder.decode(FileFormat.self, from: data).format
        try formats.check(number, of: path)
        return try JSONCoder.decode(from: data)
    }

    /// The content of the file, with the number of the form that this version writes.
    ///
    /// - Throws: As ``JSONCoder/encode(_:)``.
    package func encoded() throws -> Data {
        try JSONCoder.encode(NumberedContent(file: self))
    }
}

/// What every form has.
private struct FileFormat: Codable {
    let format: Int
}

/// The fields of a file beside its number.
private struct NumberedContent<File: NumberedFile>: Encodable {
    let file: File

    func encode(to encoder: any Encoder) throws {
        try FileFormat(format: File.formats.written).encode(to: encoder)
        try file.encode(to: encoder)
    }
}
