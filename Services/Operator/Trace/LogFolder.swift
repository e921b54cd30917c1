import FoundationEssentials
import Schemas

/// The folder of the log files of `msi up`.
struct LogFolder: Sendable {
    let path: String

    /// The lines that contain one of some identifiers.
    ///
    /// - Throws: ``InputFailure`` if the folder or a file cannot be read.
    func records(with identifiers: Set<String>) throws -> [LogRecord] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw InputFailure(description: "\(path) cannot be read")
        }
        // A file that has become too long was copied to NAME.log.1.
        return try names.filter { $0.hasSuffix(".log") || $0.hasSuffix(".log.1") }.sorted().flatMap { name in
            guard let content = try? Data(contentsOf: URL(filePath: "\(path)/\(name)")) else {
                throw InputFailure(description: "\(path)/\(name) cannot be read")
            }
            return Self.lines(of: content, with: identifiers).compactMap { LogRecord(line: $0) }
        }
    }

    /// The lines that contain one of some texts. The files have megabytes, so only those lines become texts.
    private static func lines(of content: Data, with identifiers: Set<String>) -> [String] {
        let identifiers = identifiers.map { Array($0.utf8) }
        return content.withUnsafeBytes { (content: UnsafeRawBufferPointer) in
            var lines: [String] = []
            var start = 0
            while start < content.count {
                let end = content[start...].firstIndex(of: UInt8(ascii: "\n")) ?? content.count
                let line = UnsafeRawBufferPointer(rebasing: content[start..<end])
                if identifiers.contains(where: { contains(line, $0) }) { lines.append(String(decoding: line, as: UTF8.self)) }
                start = end + 1
            }
            return lines
        }
    }

    private static func contains(_ line: UnsafeRawBufferPointer, _ identifier: [UInt8]) -> Bool {
        guard line.count >= identifier.count, !identifier.isEmpty else { return false }
        return (0...line.count - identifier.count).contains { start in
            line[start] == identifier[0] && line[start..<start + identifier.count].elementsEqual(identifier)
        }
    }
}
