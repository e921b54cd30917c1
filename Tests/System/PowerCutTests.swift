import FoundationEssentials
import Base
import NIOHTTP1
import PowerCut
import ServiceKit
import TestSupport
import Testing

/// A power cut while messages are posted. Killing processes does not simulate it: their writes stay in the kernel's cache. Here
/// every write and sync is recorded, and the disk is reset to its synced content.
@Suite("Power cuts", .serialized)
struct PowerCutTests {
    @Test("Each message and subscription is there after a power cut if it was answered, if the disk keeps some unsynced data")
    func powerCut() async throws {
        try await check(.keepsSome(seed: 1))
    }

    @Test(
        "The same with other data of the disk, and if it loses everything unsynced", .atLength,
        arguments: [PowerCut.losesAllUnsynced, .keepsSome(seed: 2)])
    func further(cut: PowerCut) async throws {
        try await check(cut)
    }

    private func check(_ cut: PowerCut) async throws {
        try await withTemporaryFolder { folder in
            let recording = try await RecordedPosts(in: folder)
            var random = SeededGenerator(seed: 7)
            // The first times of a new disk, the time of each answer, and others.
            let cutPoints = recording.log.cutPoints
            var cuts = Array(recording.posts.map(\.logLength).shuffled(using: &random).prefix(3))
            cuts += cutPoints.prefix(cutPoints.count / 3).shuffled(using: &random).prefix(3)
            cuts += cutPoints.shuffled(using: &random).prefix(2)
            for length in cuts.sorted() {
                try await recording.checkPowerCut(cut, whenLogHad: length)
            }
        }
    }
}

/// Posts to recorded services, from their first start on an empty disk.
private struct RecordedPosts {
    struct Post: Sendable {
        let msiKey: String
        /// The length of the log of writes at the time of the answer, in bytes.
        let logLength: Int
    }

    /// A browser that has proven itself.
    struct Subscriber: Sendable {
        let browser: TestBrowser
        /// As for a post.
        let logLength: Int
    }

    let log: WriteLog
    let posts: [Post]
    private let subscribers: [Subscriber]
    private let folder: String
    private let empty: RecordedDisk
    private let subjectLogLength: Int

    /// - Parameter outer: An empty folder.
    init(in outer: String) async throws {
        folder = outer + "/state"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        empty = try RecordedDisk(folder)
        let recorder = WriteRecorder(folder: folder, log: outer + "/writes")
        let variables = recorder.variables(executables: ServiceProcess.executables.path(percentEncoded: false))
        (subjectLogLength, subscribers, posts) = try await withPushServices(1) { [folder] services in
            let settings = variables.merging(["MSI_WEBPUSH_HOSTS": services[0].url]) { $1 }
            return try await withServices(in: folder, settings) { portal in
                let subject = try await portal.makeSubject("Alert")
                let subjectLogLength = recorder.logLength
                let subscribers = try await Self.subscribe(to: subject, at: services[0], through: portal, recorder)
                return (subjectLogLength, subscribers, try await Self.post(to: subject, through: portal, recorder))
            }
        }
        log = try WriteLog(path: outer + "/writes")
    }

    private static func subscribe(
        to subject: SubjectPath, at service: TestPushService, through portal: Portal, _ recorder: WriteRecorder
    ) async throws -> [Subscriber] {
        var subscribers: [Subscriber] = []
        for _ in 0..<5 {
            let browser = try await TestBrowser.subscribe(to: [subject.topicKey], at: service, through: portal)
            subscribers.append(Subscriber(browser: browser, logLength: recorder.logLength))
        }
        return subscribers
    }

    private static func post(
        to subject: SubjectPath, through portal: Portal, _ recorder: WriteRecorder
    ) async throws -> [Post] {
        let posts = try await concurrently(4) { client in
            var posts: [Post] = []
            for number in 0..<10 {
                let msiKey = try await portal.accepted(subject.message(title: "\(client)/\(number)"))
                posts.append(Post(msiKey: msiKey, logLength: recorder.logLength))
            }
            return posts
        }
        return posts.flatMap(\.self)
    }

    /// Cuts the power at one point, starts every service on the remaining data, and checks the guarantees up to that point.
    func checkPowerCut(_ cut: PowerCut, whenLogHad length: Int) async throws {
        var disk = empty
        disk.replay(log, until: length)
        try disk.cutPower(cut)
        try await withServices(in: folder, [:]) { portal in
            if subjectLogLength <= length {
                let cube = try await portal.call(.GET, "/channel")
                let isThere = String(decoding: cube.body, as: UTF8.self).contains("Main building")
                #expect(isThere, "the cube, after a cut at \(length): \(cube)")
            }
            var lost: [String] = []
            for post in posts where post.logLength <= length {
                let answer = try await portal.call(.GET, "/message/\(post.msiKey)")
                if answer.status != 200 { lost.append("\(post.msiKey): \(answer)") }
            }
            #expect(lost.isEmpty, "messages that were answered 201, after a cut at \(length)")
            for subscriber in subscribers where subscriber.logLength <= length {
                #expect(try await subscriber.browser.isKnown(to: portal), "a proven subscription, after a cut at \(length)")
            }
        }
    }
}

/// Starts the gateway and the services with a store. Web Push is on.
private func withServices<Value: Sendable>(
    in folder: String, _ settings: [String: String], _ body: @Sendable (Portal) async throws -> Value
) async throws -> Value {
    let port = try FreePort.choose()
    let own = ["MSI_GATEWAY_PORT": "\(port)", "MSI_WEBPUSH_CONTACT": "mailto:test@example.edu"]
    var processes: [ServiceProcess] = []
    return try await perform {
        for name in (ServiceEntry.all.filter(\.keepsData) + [.gateway]).map(\.executable) {
            processes.append(
                try await ServiceProcess(
                    name, in: folder, settings: settings.merging(own) { $1 },
                    logFile: "\(folder).\(name).log"))
            if name == ServiceEntry.people.executable { try await TestOperator.setUp(in: folder) }
        }
        return try await withHTTPClient { http in
            try await body(Portal(port: port, http: http, token: try TestOperator.token(in: folder)))
        }
    } finally: {
        for process in processes.reversed() { await process.kill() }
    }
}
