package import FoundationEssentials
import Glibc
package import Schemas

/// The file of the state directory to which the people service adds the number and the hash of the newest entry of the audit log:
/// a line for each, `2025-11-21T02:40:00Z 1234:9f86…`. Unlike the service's log it is never shortened: a year has less than 1 MiB.
package struct AuditHeadFile: Sendable {
    package let path: String

    package init(stateDirectory: String) {
        path = stateDirectory + "/audit-heads.log"
    }

    /// The newest line about an entry; `nil` if there is none, or the file cannot be read.
    package var newest: AuditHead? {
        FileManager.default.contents(atPath: path).flatMap { Self.heads(in: String(decoding: $0, as: UTF8.self)).last }
    }

    /// Adds a line durably.
    ///
    /// - Throws: ``Failed``.
    package func append(_ head: AuditHead, at now: Date = Date()) throws(Failed) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failed(path: path) }
        defer { close(descriptor) }
        let line = Array("\(now.formatted(Date.ISO8601FormatStyle())) \(head.number):\(head.hash)\n".utf8)
        guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else { throw Failed(path: path) }
    }

    package struct Failed: Error, CustomStringConvertible {
        package let description: String

        fileprivate init(path: String) {
            description = "\(path) cannot be written: \(String(cString: strerror(errno)))"
        }
    }

    /// The numbers and hashes in a text, which is such a file or the log of the people service.
    package static func heads(in text: String) -> [AuditHead] {
        // A number and a hash contain none of these characters.
        text.split { !($0.isHexDigit || $0 == ":") }.compactMap { AuditHead($0) }
    }
}

extension AuditHead {
    /// Reads `N:HEX`; `nil` for anything else, and for the head of an empty log, with which nothing can be compared.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), number > 0, parts[1].utf8.count == 64,
            parts[1].allSatisfy(\.isHexDigit)
        else { return nil }
        self.init(number: number, hash: parts[1].lowercased())
    }
}
