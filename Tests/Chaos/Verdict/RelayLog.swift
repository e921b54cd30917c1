import FoundationEssentials

/// What a relay has written about FCM's answers.
enum RelayLog {
    private struct Line: Decodable {
        let message: String
        let name: String?
        let time: String
    }

    /// When the relay heard that a send was accepted, Unix milliseconds, by FCM's name for it.
    static func answers(in path: String) throws -> [String: Int64] {
        let log = try Data(contentsOf: URL(filePath: path))
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var answers: [String: Int64] = [:]
        for text in log.split(separator: UInt8(ascii: "\n")) {
            // What is not JSON is the last cry of a process that crashed.
            guard let line = try? JSONDecoder().decode(Line.self, from: text), line.message == "accepted by FCM",
                let name = line.name
            else { continue }
            answers[name] = Int64((try style.parse(line.time).timeIntervalSince1970 * 1_000).rounded())
        }
        return answers
    }
}
