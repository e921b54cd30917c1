import FoundationEssentials
import TestSupport

/// FCM's answers in a relay's log.
struct RelayLog {
    /// The times of acceptances by FCM's name, in Unix milliseconds.
    private(set) var acceptances: [String: Int64] = [:]
    /// The times of failures by component, in Unix milliseconds.
    private(set) var failures: [SentComponent: [Int64]] = [:]
    /// Components that it was still sending when it ended.
    var unfinished: [SentComponent] { inFlight.filter { $0.value > 0 }.map(\.key) }

    private var inFlight: [SentComponent: Int] = [:]

    private struct Line: Decodable {
        let message: String
        let time: String
        let msiKey: String?
        let components: String?
        let component: String?
        let name: String?

        private enum CodingKeys: String, CodingKey {
            case message, time, components, component, name
            case msiKey = "msi_key"
        }
    }

    /// - Parameters:
    ///   - path: The log of one run of the relay.
    ///   - clock: The clock of its times.
    init(path: String, clock: MachineClock) throws {
        let log = try Data(contentsOf: URL(filePath: path))
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for text in log.split(separator: UInt8(ascii: "\n")) {
            // A line that is not JSON is the message of a crash.
            guard let line = try? JSONDecoder().decode(Line.self, from: text), let msiKey = line.msiKey else { continue }
            let time = clock.real(Int64((try style.parse(line.time).timeIntervalSince1970 * 1_000).rounded()))
            for name in (line.components ?? line.component ?? "").split(separator: " ") {
                take(line, of: SentComponent(msiKey: msiKey, name: String(name)), at: time)
            }
        }
    }

    private mutating func take(_ line: Line, of component: SentComponent, at time: Int64) {
        switch line.message {
        case "taken up":
            inFlight[component, default: 0] += 1
        case "accepted by FCM":
            inFlight[component, default: 0] -= 1
            acceptances[line.name ?? ""] = time
        case "not accepted by FCM":
            inFlight[component, default: 0] -= 1
            failures[component, default: []].append(time)
        default: break
        }
    }
}
