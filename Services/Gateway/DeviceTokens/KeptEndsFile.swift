import Base
import FoundationEssentials
import Glibc
import Schemas

/// The file in the gateway's state directory with the ends of devices: a line with the keys, then one line for each end.
///
/// `{"applied":1795262462399,"format":1,"keys":[{"id":"k1","key":"BJ…"}]}`
///
/// Ends are added to it, so that its size does not matter to a sign-out. It has no secrets.
struct KeptEndsFile: Sendable {
    static let name = "gateway-devices.log"

    private struct Head: NumberedFile {
        static let formats = FormatVersions(written: 1, readable: 1...1)

        let applied: Int64
        let keys: [DeviceTokenKey]
    }

    let path: String

    init(in folder: String) {
        path = folder + "/" + Self.name
    }

    /// Reads the file; `nil` if there is none. A damaged last line was being written when the machine stopped, and is left out.
    ///
    /// - Throws: An error if the file is damaged elsewhere, or another version has written it in another form.
    func read() throws -> KeptEnds? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let lines = data.split(separator: UInt8(ascii: "\n"))
        let head = try Head.read(lines.first ?? Data(), from: path)
        var ended: [EndedTokens] = []
        for (position, line) in lines.enumerated().dropFirst() {
            do {
                ended.append(try JSONCoder.decode(EndedTokens.self, from: line))
            } catch  where position == lines.count - 1 {
                break
            }
        }
        return KeptEnds(applied: max(head.applied, ended.last?.number ?? 0), keys: head.keys, ended: ended)
    }

    /// Replaces the file.
    ///
    /// - Throws: `DurableFileFailure`.
    func replace(by kept: KeptEnds) throws {
        let head = try Head(applied: kept.applied, keys: kept.keys).encoded()
        try DurableFiles.replace(path, String(decoding: head, as: UTF8.self) + "\n" + lines(kept.ended))
    }

    /// Adds ends to the file.
    ///
    /// - Throws: `AppendFailed`. Then the file may have a damaged line, and has to be replaced.
    func append(_ ended: [EndedTokens]) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw AppendFailed(path: path) }
        defer { close(descriptor) }
        let bytes = Array(try lines(ended).utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
            throw AppendFailed(path: path)
        }
    }

    /// Keeps a file that cannot be read under another name.
    ///
    /// - Throws: `DurableFileFailure`.
    func setAside() throws {
        try DurableFiles.rename(path, to: path + ".damaged")
    }

    private func lines(_ ended: [EndedTokens]) throws -> String {
        try ended.map { String(decoding: try JSONCoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    private struct AppendFailed: Error, CustomStringConvertible {
        let description: String

        init(path: String) {
            description = "\(path) cannot be written: \(String(cString: strerror(errno)))"
        }
    }
}
