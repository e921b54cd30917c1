import FoundationEssentials
import Base

/// A valid command, from which invalid ones are made.
package struct SampleCommand: Sendable {
    package let name: String
    package let payload: SampleDocument

    package init(_ name: String, _ payload: SampleDocument) {
        self.name = name
        self.payload = payload
    }
}

/// A request that every service must refuse.
package struct BadBusRequest: Sendable {
    package enum Answer: Sendable {
        /// A failure, with the request's id if its header can be read.
        case refused(id: String)
        /// No answer: the connection is closed.
        case disconnected
    }

    package let description: String
    package let frames: [[UInt8]]
    package let answer: Answer
}

/// Makes bad requests. The same seed makes the same requests.
package struct BadBusRequests {
    /// A text in many of the requests, which must not appear in a log.
    package static let secret = "swordfish"

    private var generator: SeededGenerator
    private var lastID = 0

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Each command with each fault of a payload, then faults of headers and of frames.
    package mutating func make(for commands: [SampleCommand]) -> [BadBusRequest] {
        var requests: [BadBusRequest] = []
        for command in commands {
            for fault in SpoiltDocument.Fault.allCases { requests.append(payload(of: command, with: fault)) }
            requests += headers(of: command)
        }
        if let command = commands.randomElement(using: &generator) { requests += frames(of: command) }
        return requests
    }

    private mutating func newID() -> String {
        lastID += 1
        return "bad-\(lastID)"
    }

    private func header(_ id: String, _ command: String) -> [UInt8] {
        Array(#"{"id":"\#(id)","command":"\#(command)","actor":"\#(Self.secret)"}"#.utf8)
    }

    private mutating func payload(of command: SampleCommand, with fault: SpoiltDocument.Fault) -> BadBusRequest {
        let id = newID()
        let document = command.payload.spoilt(by: fault, giant: 500_000, using: &generator)
        return BadBusRequest(
            description: "\(command.name) with a payload \(fault)", frames: [header(id, command.name), document.bytes],
            answer: .refused(id: id))
    }

    private mutating func headers(of command: SampleCommand) -> [BadBusRequest] {
        let name = command.name
        let good = command.payload.bytes
        let plain = header("1", name)
        let cut = Int.random(in: 1..<plain.count, using: &generator)
        let texts: [(String, [UInt8])] = [
            ("cut off", Array(plain.prefix(cut))),
            ("that is a list", Array("[]".utf8)),
            ("that is a text", Array("\"\(Self.secret)\"".utf8)),
            ("that says nothing", Array("{}".utf8)),
            ("with a number for an id", Array(#"{"id":7,"command":"\#(name)"}"#.utf8)),
            ("with an empty id", Array(#"{"id":"","command":"\#(name)"}"#.utf8)),
            ("with a huge id", Array(#"{"id":"\#(String(repeating: "x", count: 7_000))","command":"\#(name)"}"#.utf8)),
            ("without an id", Array(#"{"command":"\#(name)"}"#.utf8)),
            ("without a command", Array(#"{"id":"x"}"#.utf8)),
            ("with a list for a command", Array(#"{"id":"x","command":["\#(name)"]}"#.utf8)),
            ("with a text for a deadline", Array(#"{"id":"x","command":"\#(name)","deadline":"soon"}"#.utf8)),
            ("with a huge deadline", Array(#"{"id":"x","command":"\#(name)","deadline":1e400}"#.utf8)),
            ("with a passed deadline", Array(#"{"id":"x","command":"\#(name)","deadline":-9223372036854775808}"#.utf8)),
            ("with an unknown field", Array(#"{"id":"x","command":"\#(name)","priority":1}"#.utf8)),
            ("with a field twice", Array(#"{"id":"x","command":"\#(name)","actor":"a","actor":"b"}"#.utf8)),
            ("with a trailing comma", Array(#"{"id":"x","command":"\#(name)",}"#.utf8)),
            ("with a byte order mark", [0xEF, 0xBB, 0xBF] + plain),
            ("in UTF-16", plain.flatMap { [$0, 0] }),
            ("with nulls", Array(#"{"id":"x","command":"\#(name)","actor":null}"#.utf8)),
            ("with an object for an actor", Array(#"{"id":"x","command":"\#(name)","actor":{}}"#.utf8)),
            ("with an unknown command", Array(#"{"id":"x","command":"\#(name).\#(Self.secret)"}"#.utf8)),
            ("with bad UTF-8", Array(#"{"id":"x","command":"\#(name)"#.utf8) + [0xFF, 0xFE, 0x22, 0x7D]),
            ("with a NUL", Array(#"{"id":"x","command":"\#(name)"}"#.utf8) + [0]),
            ("nested deeply", [UInt8](repeating: UInt8(ascii: "["), count: 8_000)),
        ]
        return texts.map { fault, bytes in
            BadBusRequest(
                description: "\(name) with a header \(fault)", frames: [bytes, good],
                answer: .refused(id: Self.readableID(in: bytes)))
        }
    }

    /// The id of a header. It can be read if it comes first and is a short text, even if the rest is invalid.
    private static func readableID(in header: [UInt8]) -> String {
        let beginning = Array(#"{"id":""#.utf8)
        let rest = header.dropFirst(beginning.count)
        guard header.starts(with: beginning), let end = rest.firstIndex(of: UInt8(ascii: "\"")), end <= 100 else { return "" }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func frames(of command: SampleCommand) -> [BadBusRequest] {
        let good = header("1", command.name)
        let payload = command.payload.bytes
        func request(_ description: String, _ frames: [[UInt8]], _ answer: BadBusRequest.Answer = .refused(id: ""))
            -> BadBusRequest
        {
            BadBusRequest(description: description, frames: frames, answer: answer)
        }
        let junk = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return [
            request("one empty frame", [[]]),
            request("two empty frames", [[], []]),
            request("five empty frames", [[], [], [], [], []]),
            request("a header alone", [good]),
            request("a delimiter and a header alone", [[], good]),
            request("three frames", [good, payload, payload]),
            request("four frames", [good, payload, good, payload]),
            request("a delimiter and three frames", [[], good, payload, payload]),
            request("noise", [junk, junk]),
            request("noise before a delimiter", [junk, [], good, payload]),
            request("a thousand frames", (0..<1_000).map { Array("frame \($0)".utf8) }),
            request("ten thousand frames", (0..<10_000).map { Array("frame \($0)".utf8) }),
            request("ten thousand empty frames", [[UInt8]](repeating: [], count: 10_000)),
            request("a header of a megabyte", [[UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20), payload]),
            request(
                "a payload of two megabytes", [good, [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20)], .refused(id: "1")),
            request("a payload of 20 megabytes", [good, [UInt8](repeating: UInt8(ascii: " "), count: 20 << 20)], .disconnected),
        ]
    }
}
