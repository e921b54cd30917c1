import Bus
import FCM
import FoundationEssentials
import Base
import Schemas

/// The time to read and to write a document with ``JSONCoder``, with the type's own reader or writer if it has one, and with
/// Foundation's coders.
struct JSONBenchmark {
    let scale: Scale

    private var rounds: Int { scale.pick(7, smoke: 1) }
    private var seconds: Double { scale.pick(0.05, smoke: 0) }

    /// The median times of one document, in nanoseconds.
    private struct Line: Encodable {
        let document: String
        let bytes: Int
        var read: Double?
        var write: Double?
        var ownRead: Double?
        var ownWrite: Double?
        var foundationRead: Double?
        var foundationWrite: Double?
    }

    private struct Figures: Encodable {
        let benchmark = "json"
        let documents: [Line]
    }

    func run() throws {
        say("JSON: nanoseconds to read and to write a document (median of \(rounds) runs of \(Int(seconds * 1_000)) ms)")
        say(Table.row("", "bytes", "read", "write", "own read", "own write", "F. read", "F. write", first: 22))
        var lines: [Line] = []
        for line in [
            try requestHeader(), try replyHeader(), try relayCommand(), try relayReply(), try fcmRequest(), try fcmAcceptance(),
            try failure(), try area(), try message(), try cube(),
        ] {
            let times = [line.read, line.write, line.ownRead, line.ownWrite, line.foundationRead, line.foundationWrite]
            let texts = times.map { time in time.map { "\(Int($0))" } ?? "" }
            say(
                Table.row(
                    line.document, "\(line.bytes)", texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], first: 22))
            lines.append(line)
        }
        say(String(decoding: try JSONCoder.encode(Figures(documents: lines)), as: UTF8.self))
    }

    // MARK: Documents

    private func requestHeader() throws -> Line {
        let header = RequestHeader(id: "7f3a91000000001", command: "message.relay", timeout: 5_000, deadline: .now, actor: "ann")
        var line = try general("request header", header, strictly: true)
        let json = try JSONCoder.encode(header)
        line.ownRead = try time { json.withUnsafeBytes { keep(RequestHeader(plain: $0)) } }
        var frame = JSONBytes(capacity: 512)
        line.ownWrite = try time {
            frame.removeAll()
            header.append(to: &frame)
        }
        return line
    }

    private func replyHeader() throws -> Line {
        let header = ReplyHeader(id: "7f3a91000000001", status: .notFound)
        var line = try general("reply header", header)
        var frame = JSONBytes(capacity: 512)
        line.ownWrite = try time {
            frame.removeAll()
            header.append(to: &frame)
        }
        return line
    }

    private func relayCommand() throws -> Line {
        var line = try general("message.relay", BusSample.relay, strictly: true)
        let json = try JSONCoder.encode(BusSample.relay)
        line.ownRead = try time { keep(try RelayMessage(payload: json)) }
        line.ownWrite = try time { keep(try BusSample.relay.payload()) }
        return line
    }

    private func relayReply() throws -> Line {
        var line = try general("its reply", BusSample.reply)
        let json = try JSONCoder.encode(BusSample.reply)
        line.ownRead = try time { keep(try RelayMessage.reply(payload: json)) }
        line.ownWrite = try time { keep(try RelayMessage.payload(of: BusSample.reply)) }
        return line
    }

    private func fcmRequest() throws -> Line {
        let now = UnixMilliseconds.now
        var line = Line(document: "FCM request", bytes: FCMRequest.body(.data, of: BusSample.relay, now: now).count)
        line.ownWrite = try time { keep(FCMRequest.body(.data, of: BusSample.relay, now: now)) }
        return line
    }

    private func fcmAcceptance() throws -> Line {
        let json = Data(#"{"name":"projects/campus/messages/0:1795262462412009%b611fad549928558"}"#.utf8)
        var line = Line(document: "FCM answer", bytes: json.count)
        line.read = try time { keep(FCMAcceptance(body: json)) }
        let decoder = JSONDecoder()
        line.foundationRead = try time { keep(try decoder.decode(FCMAcceptance.self, from: json)) }
        return line
    }

    private func failure() throws -> Line {
        let json = Data(#"{"field":"areaID","message":"no area 5b0c0d5a0b0c0d5a0b0c0d5a in this channel"}"#.utf8)
        return try general("failure", JSONCoder.decode(CommandFailure.Payload.self, from: json))
    }

    private func area() throws -> Line {
        try general(
            "area.add", AddArea(channelID: ObjectID(), area: NamedDraft(name: "Library", desc: "Opening hours")), strictly: true)
    }

    private func message() throws -> Line {
        let relay = BusSample.relay
        return try general(
            "message",
            Message(
                msiKey: relay.msiKey, content: relay.content, sender: "ann", timestamp: .now,
                names: CubeNames(channel: "Campus", area: "Weather", subject: "Storms"), expires: .now,
                relay: RelayRecord(
                    state: .relayed, attempts: 1, nextAttempt: nil, ended: .now,
                    components: relay.components.map {
                        ComponentRecord(
                            component: RelayComponent($0), state: .accepted, name: "projects/campus/messages/0:1795262462412009")
                    })))
    }

    private func cube() throws -> Line {
        let key = BusSample.relay.content.topicKey
        let subjects = (0..<50).map { number in
            Subject(
                id: key.subject, name: "Subject \(number)", desc: "What it is about, and for whom", topicKey: key,
                opt: SubjectOptions(level: .recommended, distribution: .information), tags: ["campus", "news"])
        }
        let area = Area(id: key.area, name: "Area", desc: "", subjects: subjects)
        return try general(
            "cube of 50 subjects",
            CubeSnapshot(version: 1, channels: [Channel(id: key.channel, name: "Campus", desc: "", areas: [area])]))
    }

    // MARK: Measurement

    private func general(_ name: String, _ value: some Codable, strictly: Bool = false) throws -> Line {
        let json = try JSONCoder.encode(value)
        var line = Line(document: name, bytes: json.count)
        line.read = try time { keep(try readGenerally(like: value, json, strictly: strictly)) }
        line.write = try time { keep(try JSONCoder.encode(value)) }
        let decoder = JSONDecoder()
        line.foundationRead = try time { keep(try readByFoundation(like: value, json, decoder)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line.foundationWrite = try time { keep(try encoder.encode(value)) }
        return line
    }

    private func readGenerally<Value: Decodable>(like _: Value, _ json: Data, strictly: Bool) throws -> Value {
        try strictly ? JSONCoder.decodeStrictly(from: json) : JSONCoder.decode(from: json)
    }

    private func readByFoundation<Value: Decodable>(like _: Value, _ json: Data, _ decoder: JSONDecoder) throws -> Value {
        try decoder.decode(Value.self, from: json)
    }

    /// The nanoseconds that `work` takes, in the median of several runs.
    private func time(_ work: () throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        let times = try (0..<rounds).map { _ in
            let start = clock.now
            var count = 0
            var elapsed: Duration
            repeat {
                for _ in 0..<100 { try work() }
                count += 100
                elapsed = clock.now - start
            } while elapsed < .seconds(seconds)
            return elapsed / .nanoseconds(1) / Double(count)
        }
        return times.median.rounded()
    }

    /// Keeps the optimiser from removing work whose result is unused.
    @inline(never)
    private func keep<Value>(_ value: Value) {}
}
