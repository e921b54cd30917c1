import FoundationEssentials
import Base
import Glibc
package import Schemas

/// The file of the state directory to which the people service adds a line for each erased person: `2026-11-25T03:00:00Z 9f86…`, the time
/// and a keyed digest of the account's name. It is never shortened. A restore keeps it, so that the data of an older backup is erased again.
package struct ErasureLog: Sendable {
    package static let name = "erasures.log"

    /// An erased person.
    package struct Line: Hashable, Sendable {
        /// In whole seconds.
        package let at: UnixMilliseconds
        /// 64 lower-case hexadecimal digits.
        package let digest: String

        package init(at: UnixMilliseconds, digest: String) {
            self.at = UnixMilliseconds(rawValue: at.seconds * 1_000)
            self.digest = digest
        }
    }

    package let path: String

    package init(stateDirectory: String) {
        path = stateDirectory + "/" + Self.name
    }

    package var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// All lines; none if there is no file.
    ///
    /// - Throws: ``Failed`` if the file cannot be read.
    package func lines() throws(Failed) -> [Line] {
        guard let data = FileManager.default.contents(atPath: path) else {
            guard !exists else { throw Failed(description: "\(path) cannot be read") }
            return []
        }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Line($0) }
    }

    /// Adds lines durably, and makes the file if it is missing.
    ///
    /// - Throws: ``Failed``.
    package func append(_ lines: [Line]) throws(Failed) {
        let isNew = !exists
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failed(path: path) }
        defer { close(descriptor) }
        let text = Array(lines.map { "\($0)\n" }.joined().utf8)
        guard write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0 else { throw Failed(path: path) }
        guard isNew else { return }
        do {
            try DurableFiles.syncFolder(String(path.dropLast(Self.name.utf8.count + 1)))
        } catch {
            throw Failed(description: "\(error)")
        }
    }

    /// Adds the lines of another file, such as that of a backup, and makes the file if it is missing.
    ///
    /// - Throws: ``Failed``, or ``DurableFileFailure``.
    package func merge(_ other: ErasureLog) throws {
        let all = try lines() + other.lines()
        let earliest = Dictionary(all.map { ($0.digest, $0.at) }, uniquingKeysWith: min)
        let merged = earliest.map { Line(at: $1, digest: $0) }.sorted { ($0.at, $0.digest) < ($1.at, $1.digest) }
        try DurableFiles.replace(path, merged.map { "\($0)\n" }.joined())
    }

    package struct Failed: Error, CustomStringConvertible {
        package let description: String

        fileprivate init(description: String) {
            self.description = description
        }

        fileprivate init(path: String) {
            description = "\(path) cannot be written: \(String(cString: strerror(errno)))"
        }
    }
}

extension ErasureLog.Line: CustomStringConvertible {
    /// Every line has this length. A power cut may have left the beginning of another one before it.
    private static let length = 85
    private static let digestLength = 64

    fileprivate init?(_ text: Substring) {
        let line = text.suffix(Self.length)
        let digest = line.suffix(Self.digestLength)
        guard line.utf8.count == Self.length, digest.utf8.allSatisfy({ $0.hexadecimalValue < 16 }),
            let time = try? Date(String(line.prefix(Self.length - Self.digestLength - 1)), strategy: Date.ISO8601FormatStyle())
        else { return nil }
        self.init(at: time.unixMilliseconds, digest: digest.lowercased())
    }

    package var description: String { "\(Date(at).formatted(Date.ISO8601FormatStyle())) \(digest)" }
}
