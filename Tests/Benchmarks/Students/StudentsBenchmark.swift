import Base
import FoundationEssentials
import Glibc
import NIOHTTP1
import Schemas
import TestSupport

/// What students cost: people and the gateway with 50,000 of them, a device each; sign-ins and tokens; and their streams of events.
struct StudentsBenchmark {
    let scale: Scale
    /// The folder for the product's data.
    let folder: String

    private var students: Int { scale.pick(50_000, smoke: 30) }
    private var streams: Int { min(scale.pick(10_000, smoke: 10), Self.maxStreams) }
    private var rounds: Int { scale.pick(3, smoke: 1) }
    private var perRound: Int { scale.pick(600, smoke: 4) }
    /// Sign-ins at a constant rate, which the goals are about.
    private static let rate = 20.0
    private var constantSeconds: Double { scale.pick(60, smoke: 0.5) }
    private var events: Int { scale.pick(200, smoke: 2) }
    private static let clients = 64

    /// Half of the gateway's connections may be streams. Each connection needs a descriptor, also in this process, whose limit is raised.
    private static let maxStreams: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 400 }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 30_000))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(1, (Int(clamping: limit.rlim_max) - 200) / 2)
    }()

    private struct Figures: Encodable {
        /// Requests by 64 clients.
        struct Requests: Encodable {
            /// A second.
            let rate: Double
            let latency: Latency
            /// The people service's microseconds for each.
            let processorTime: Double
        }

        /// A process with all students, while 20 of them sign in each second.
        struct Process: Encodable {
            let name: String
            /// The share of one processor.
            let cores: Double
            /// MiB.
            let memory: Double
            /// Seconds until it was ready, with all students.
            let start: Double
        }

        struct Streams: Encodable {
            let count: Int
            /// The gateway's memory with all of them, in MiB, and what each adds, in KiB.
            let memory: Double
            let kibibytesPerStream: Double
            /// From the request that changes something until its event has reached the person's stream, in milliseconds.
            let event: Latency
        }

        let benchmark = "students"
        let students: Int
        /// Registrations and first sign-ins a second, over the bus.
        let added: Double
        let signIns: Requests
        let tokens: Requests
        let processes: [Process]
        let checks: TokenChecks.Figures
        let streams: Streams
    }

    func run() async throws {
        let figures = try await StudentStack.with(streams: streams, in: folder + "/product") { stack, running in
            try await measure(stack, people: running[1], gateway: running[2])
        }
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measure(
        _ stack: StudentStack, people: ServiceProcess, gateway: ServiceProcess
    ) async throws -> Figures {
        say("adding \(students) students")
        let begin = ContinuousClock.now
        let students = try await stack.students(self.students)
        let added = Double(students.count) / ((ContinuousClock.now - begin) / .seconds(1))
        say("students: \(Int(added)) registered and signed in a second")

        say(Table.row("", "a second", "p50", "p99", "µs of people", first: 24))
        let signIns = try await requests("sign-ins", of: people) { round in
            let chosen = students.shuffled().prefix(perRound)
            var credentials: [PersonCredential] = []
            for student in chosen { credentials.append(try await stack.credential(of: student.account)) }
            return { [credentials] number in try await stack.signIn(with: credentials[number]) }
        }
        let tokens = try await requests("tokens of devices", of: people) { _ in
            let chosen = Array(students.shuffled().prefix(perRound))
            return { number in try await stack.exchange(chosen[number]) }
        }
        let checks = try await TokenChecks(scale: scale, folder: folder).measure(
            students[0].token, at: stack.portal.port, gateway: gateway.identifier)
        say("a check of a token: \(checks.first) µs the first time, \(checks.remembered) µs when it is remembered")
        let (processes, running) = try await constant(stack, students, people, gateway)
        let streams = try await measureStreams(stack, Array(students.prefix(self.streams)), gateway: running[1])
        for process in running.reversed() { await process.stop() }
        return Figures(
            students: students.count, added: added.rounded(), signIns: signIns, tokens: tokens, processes: processes,
            checks: checks, streams: streams)
    }

    // MARK: Requests

    /// - Parameter prepare: Returns what makes a request of a round, by its number.
    private func requests(
        _ name: String, of people: ServiceProcess,
        _ prepare: (Int) async throws -> @Sendable (Int) async throws -> Void
    ) async throws -> Figures.Requests {
        var found: [(rate: Double, latency: Latency, processorTime: Double)] = []
        let count = perRound
        let clients = min(Self.clients, count)
        for round in 0..<rounds {
            let request = try await prepare(round)
            let before = try ProcessUsage(of: people.identifier).processorTime
            let begin = ContinuousClock.now
            let times = try await concurrently(clients) { client in
                var times: [Double] = []
                for number in stride(from: client, to: count, by: clients) {
                    let sent = ContinuousClock.now
                    try await request(number)
                    times.append((ContinuousClock.now - sent) / .milliseconds(1))
                }
                return times
            }.flatMap { $0 }
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            let used = try ProcessUsage(of: people.identifier).processorTime - before
            found.append((Double(count) / seconds, Latency(times), used / Double(count) * 1e6))
        }
        let figures = Figures.Requests(
            rate: found.map(\.rate).median.rounded(), latency: .median(found.map(\.latency)),
            processorTime: found.map(\.processorTime).median.rounded())
        say(
            Table.row(
                name,
                ["\(Int(figures.rate))", "\(figures.latency.p50)", "\(figures.latency.p99)", "\(Int(figures.processorTime))"],
                first: 24))
        return figures
    }

    /// What people and the gateway use while students sign in at a constant rate, and then how long they take to start again.
    private func constant(
        _ stack: StudentStack, _ students: [StudentStack.Student], _ people: ServiceProcess, _ gateway: ServiceProcess
    ) async throws -> (figures: [Figures.Process], running: [ServiceProcess]) {
        let count = Int(Self.rate * constantSeconds)
        let chosen = students.shuffled().prefix(count)
        var credentials: [PersonCredential] = []
        for student in chosen { credentials.append(try await stack.credential(of: student.account)) }
        let running = [people, gateway]
        let before = try running.map { try ProcessUsage(of: $0.identifier) }
        _ = try await ConstantRate(count: credentials.count, period: .seconds(constantSeconds)).run { [credentials] number in
            try await stack.signIn(with: credentials[number])
        }
        let after = try running.map { try ProcessUsage(of: $0.identifier) }
        var processes: [Figures.Process] = []
        var restarted: [ServiceProcess] = []
        say("\(Int(Self.rate)) sign-ins a second")
        say(Table.row("", "cores", "MiB", "s to start", first: 24))
        for (process, usage) in zip(running, zip(before, after)) {
            await process.stop()
            let (again, start) = try await stack.start(process.name)
            let figures = Figures.Process(
                name: process.name,
                cores: ((usage.1.processorTime - usage.0.processorTime) / constantSeconds).twoDigits,
                memory: (Double(usage.1.resident) / 1_024).twoDigits, start: start.twoDigits)
            say(Table.row(process.name, ["\(figures.cores)", "\(figures.memory)", "\(figures.start)"], first: 24))
            processes.append(figures)
            restarted.append(again)
        }
        return (processes, restarted)
    }

    // MARK: Streams

    private func measureStreams(
        _ stack: StudentStack, _ students: [StudentStack.Student], gateway: ServiceProcess
    ) async throws -> Figures.Streams {
        // It has just started, and does not know the keys of tokens at once.
        let first = stack.portal.with(token: students.first?.token.text)
        try await eventually("the gateway takes tokens") { try await first.call(.GET, "/user").status == 200 }
        let before = try ProcessUsage(of: gateway.identifier).resident
        let url = "http://127.0.0.1:\(stack.portal.port)/user/events"
        return try await StreamCrowd.with(url, tokens: students.map(\.token.text), counting: "person") { crowd in
            guard crowd.refused.isEmpty else { throw PeerFailure(description: "streams were refused: \(crowd.refused)") }
            let open = try ProcessUsage(of: gateway.identifier).resident
            var times: [Double] = []
            for number in 0..<events {
                let student = number * 31 % students.count
                let earlier = crowd.received(by: student)?.count ?? 0
                let portal = stack.portal.with(token: students[student].token.text)
                let begin = ContinuousClock.now
                let answer = try await portal.call(.PUT, "/user/profile", ["bio": .string("\(number)"), "visibility": [:]])
                guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
                let last = try await eventually("the event", every: .milliseconds(1)) {
                    crowd.received(by: student).flatMap { $0.count > earlier ? $0.last : nil }
                }
                times.append((last - begin) / .milliseconds(1))
            }
            let figures = Figures.Streams(
                count: crowd.open, memory: (Double(open) / 1_024).twoDigits,
                kibibytesPerStream: (Double(open - before) / Double(max(1, crowd.open))).twoDigits, event: Latency(times))
            say(
                "\(figures.count) streams of events: \(figures.memory) MiB, \(figures.kibibytesPerStream) KiB each; an event arrives "
                    + "after \(figures.event.p50) ms, \(figures.event.p99) ms (p99)")
            return figures
        }
    }
}
