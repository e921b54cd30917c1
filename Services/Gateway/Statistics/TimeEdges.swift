import JSON
import Schemas

/// The edges of spans of time in a query: ascending times, separated by commas.
struct TimeEdges: Hashable, Sendable {
    let times: [UnixMilliseconds]
}

extension TimeEdges: LosslessStringConvertible {
    var description: String { times.map(\.description).joined(separator: ",") }

    init?(_ description: String) {
        let parts = description.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= CountMessages.maxEdges else { return nil }
        // Swift would read a sign as well.
        times = parts.filter { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
            .compactMap { UnixMilliseconds(String($0)) }.filter { $0 <= maximumUnixMilliseconds }
        guard times.count == parts.count, zip(times, times.dropFirst()).allSatisfy(<) else { return nil }
    }
}

extension TimeEdges: TextCodable {
    static let expected =
        "1 to \(CountMessages.maxEdges) ascending times in milliseconds since 1970-01-01 UTC, separated by commas"
    static let pattern = "^[0-9]{1,15}(,[0-9]{1,15}){0,\(CountMessages.maxEdges - 1)}$"
    static let example = "1795219200000,1795305600000,1795392000000"
}
