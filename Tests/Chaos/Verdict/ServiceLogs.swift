import FoundationEssentials

/// The log files of all processes of a run.
struct ServiceLogs: Sendable {
    /// The maximum number of lines about a message: its first ones, and its last ones.
    private static let maxLines = 20

    let files: [String]

    /// The lines that contain a message's key, in the order of time, with the name of their file.
    func lines(about msiKey: String) -> [String] {
        let found = files.flatMap { file in
            (FileManager.default.contents(atPath: file) ?? Data()).split(separator: UInt8(ascii: "\n"))
                .map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains(msiKey) }
                .map { (time: Self.time(of: $0), text: "\(file.split(separator: "/").last ?? ""): \($0)") }
        }
        let lines = found.sorted { $0.time < $1.time }.map(\.text)
        guard lines.count > Self.maxLines else { return lines }
        let half = Self.maxLines / 2
        return lines.prefix(half) + ["… \(lines.count - 2 * half) lines …"] + lines.suffix(half)
    }

    private struct Line: Decodable {
        let time: String
    }

    /// The time as text; empty for a line that is not JSON.
    private static func time(of line: String) -> String {
        (try? JSONDecoder().decode(Line.self, from: Data(line.utf8)))?.time ?? ""
    }
}
