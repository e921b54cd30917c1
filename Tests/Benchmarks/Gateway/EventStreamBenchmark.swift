import AsyncHTTPClient
import FoundationEssentials
import Base
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

/// Measures the memory of open event streams, and the time until an event has reached all of them. Each stream belongs to another
/// communicator, and every tenth communicator has its own access list.
struct EventStreamBenchmark {
    private struct Figures: Codable {
        var benchmark = "events"
        let streams: Int
        /// The gateway's resident memory in KiB: with one stream, with all streams open, and after the events.
        let before: Int
        let open: Int
        let after: Int
        let kibibytesPerStream: Double
        /// Events that have reached all streams.
        let events: Int
        /// From the answer to a post until the last stream has the message's first event, in milliseconds.
        let p50: Double
        let p99: Double
        /// The gateway's processor time in microseconds for an event on one stream.
        let microsecondsPerEvent: Double
    }

    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var streams: Int { scale.pick(1_000, smoke: 20) }
    private var messages: Int { scale.pick(100, smoke: 3) }
    private var pause: Duration { scale.pick(.milliseconds(100), smoke: .zero) }

    func run() async throws {
        let product = folder + "/product"
        // No one signs in at this provider. Without one, an account needs a password, which would have to be hashed.
        let provider = ["MSI_OIDC_ISSUER": "http://127.0.0.1:9", "MSI_OIDC_CLIENT_ID": "benchmark"]
        let figures = try await MessageStack.with(
            database: nil, people: provider, in: product
        ) { try await measure($0) }
        say("\(figures.streams) open streams of GET /events: the gateway's memory, and \(figures.events) events on each")
        say(Table.row("before", "open", "after", "KiB a stream", "p50", "p99", "µs an event"))
        say(
            Table.row(
                "\(figures.before) KiB", "\(figures.open) KiB", "\(figures.after) KiB", "\(figures.kibibytesPerStream)",
                "\(figures.p50) ms", "\(figures.p99) ms", "\(figures.microsecondsPerEvent)"))
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(_ stack: MessageStack) async throws -> Figures {
        guard let gateway = stack.processes.first(where: { $0.name == "msi-gateway" })?.identifier else {
            throw PeerFailure(description: "there is no gateway")
        }
        let subject = try await stack.portal.makeSubject("Information")
        say("adding \(streams) communicators")
        let tokens = try await communicators(at: stack.portal)
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = streams + 10
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let audience = StreamAudience(
            url: "http://127.0.0.1:\(stack.portal.port)/events", tokens: tokens, http: http)
        let figures: Figures
        do {
            figures = try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await audience.listen(as: 0) }
                try await audience.open(1)
                let before = try ProcessUsage(of: gateway)
                for number in 1..<streams { group.addTask { try await audience.listen(as: number) } }
                try await audience.open(streams)
                let open = try ProcessUsage(of: gateway)
                let times = try await post(to: subject, at: stack.portal, audience)
                let after = try ProcessUsage(of: gateway)
                let events = times.count * 2
                return Figures(
                    streams: streams, before: before.resident, open: open.resident, after: after.resident,
                    kibibytesPerStream: (Double(open.resident - before.resident) / Double(streams - 1)).twoDigits,
                    events: events, p50: times[times.count / 2].twoDigits, p99: times[times.count * 99 / 100].twoDigits,
                    microsecondsPerEvent: ((after.processorTime - open.processorTime) * 1e6 / Double(events * streams))
                        .twoDigits)
            }
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
        return figures
    }

    /// Adds communicators and the subjects of a large cube.
    ///
    /// - Returns: A token of each.
    private func communicators(at portal: Portal) async throws -> [String] {
        func made(_ answer: HTTPAnswer, _ field: String) throws -> String {
            guard answer.status == 201 || answer.status == 200, let value = try answer.json[field]?.string else {
                throw UnexpectedAnswer(answer)
            }
            return value
        }
        _ = try await portal.makeChannel(subjects: streams)
        let channel = try made(try await portal.call(.POST, "/channel", ["name": "Lists", "desc": "d"]), "_id")
        let area = try made(try await portal.call(.POST, "/area/\(channel)", ["name": "Lists", "desc": "d"]), "id")
        var tokens: [String] = []
        for number in 0..<streams {
            let name = "communicator\(number)"
            _ = try made(
                try await portal.call(.POST, "/account", ["account": "\(name)", "role": "communicator", "oidc": "\(name)"]),
                "account")
            let token: JSONValue = ["name": "benchmark", "account": "\(name)", "rights": ["read"]]
            tokens.append(try made(try await portal.call(.POST, "/token", token), "secret"))
            guard number % 10 == 0 else { continue }
            let own = try await portal.makeSubject("Information", name: name, in: channel, area)
            let access = try await portal.call(
                .PUT, "/access/\(channel)/\(area)/\(own.subject)", ["access": ["\(name)"]])
            guard access.status == 200 else { throw UnexpectedAnswer(access) }
        }
        return tokens
    }

    /// Posts messages, and waits for the events of each at every stream.
    ///
    /// - Returns: The times until the last stream had the first event, in milliseconds, sorted.
    private func post(to subject: SubjectPath, at portal: Portal, _ audience: StreamAudience) async throws -> [Double] {
        var times: [Double] = []
        for number in 1...messages {
            let answer = try await portal.post(subject.message())
            guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
            let posted = ContinuousClock.now
            // Each message has two events: it was stored, and it was relayed.
            let last = try await audience.received(number * 2 - 1)
            times.append(max(0, (last - posted) / .milliseconds(1)))
            _ = try await audience.received(number * 2)
            try await Task.sleep(for: pause)
        }
        return times.sorted()
    }
}

/// Clients of `GET /events` that count the events about messages.
final class StreamAudience: Sendable {
    private struct State {
        var open = 0
        /// The number of events of each stream.
        var counts: [Int: Int] = [:]
        /// How many streams have received how many events, and when the last of them did.
        var reached: [Int: (streams: Int, last: ContinuousClock.Instant)] = [:]
    }

    private let url: String
    private let tokens: [String]
    private let http: HTTPClient
    private let state = Mutex(State())

    /// - Parameter tokens: One for each stream.
    init(url: String, tokens: [String], http: HTTPClient) {
        self.url = url
        self.tokens = tokens
        self.http = http
    }

    /// Reads a stream until the task is cancelled.
    func listen(as number: Int) async throws {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Authorization", value: "Bearer \(tokens[number])")
        let response = try await http.execute(request, deadline: .distantFuture)
        guard response.status == .ok else { throw PeerFailure(description: "a stream was refused: \(response.status)") }
        var line: [UInt8] = []
        var isOpen = false
        for try await bytes in response.body {
            if !isOpen {
                isOpen = true
                state.withLock { $0.open += 1 }
            }
            for byte in bytes.readableBytesView {
                if byte != UInt8(ascii: "\n") {
                    line.append(byte)
                    continue
                }
                if line == Array("event: message".utf8) { received(by: number) }
                line.removeAll(keepingCapacity: true)
            }
        }
    }

    private func received(by number: Int) {
        let now = ContinuousClock.now
        state.withLock { state in
            let count = state.counts[number, default: 0] + 1
            state.counts[number] = count
            state.reached[count] = ((state.reached[count]?.streams ?? 0) + 1, now)
        }
    }

    /// Waits until this many streams are open.
    func open(_ count: Int) async throws {
        try await eventually("\(count) open streams", within: .seconds(60)) { state.withLock { $0.open >= count } }
    }

    /// Waits until every stream has this many events.
    ///
    /// - Returns: When the last one got it.
    func received(_ count: Int) async throws -> ContinuousClock.Instant {
        try await eventually("\(count) events on every stream", within: .seconds(60), every: .milliseconds(1)) {
            state.withLock { state -> ContinuousClock.Instant? in
                guard let reached = state.reached[count], reached.streams == state.open else { return nil }
                return reached.last
            }
        }
    }
}
