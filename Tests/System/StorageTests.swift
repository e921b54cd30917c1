import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// Full disks, and the recovery from them.
    @Suite(
        "Full disk", .enabled(if: SmallDisk.isPossible, "needs a superuser who may mount a small disk"), .stackOnSmallDisk)
    struct FullDiskTests {
        @Test(
            "A full disk is a 507; nothing accepted is lost, nothing refused is stored, and all works again once there is room")
        func fullDisk() async throws {
            try await StackOnSmallDisk.use { stack, disk in
                let portal = stack.portal
                let subject = try await portal.makeSubject("Alert")
                try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                    var posts = Posts(portal: portal, subject: subject)
                    for _ in 0..<5 { _ = try await posts.post() }
                    #expect(posts.refused.isEmpty)
                    let processes = stack.processes

                    try disk.fill()
                    // The existing files have free space.
                    var refusal = try await posts.post()
                    while refusal.status != 507, posts.count < 5_000 { refusal = try await posts.post() }
                    #expect(refusal.status == 507)
                    #expect(refusal["Content-Type"] == "application/problem+json")
                    #expect(try refusal.json["type"] == "/problems/storage-full")
                    for _ in 0..<5 { #expect(try await posts.post().status == 507) }
                    try await eventually("a health that says so") {
                        let health = try await portal.call(.GET, "/health")
                        return try health.status == 503 && health.json["services"]?["message-log"] == "storage_full"
                    }
                    #expect(try await portal.call(.GET, "/message").status == 200)
                    #expect(try await portal.call(.GET, "/channel").status == 200)

                    try disk.free()
                    try await eventually("a message is accepted again") { try await posts.post().status == 201 }
                    #expect(stack.processes == processes)
                    try await expectAccounted(posts, stack, phone)
                }
            }
        }

        @Test(
            "When the disk fills up, new messages and channels are refused early, and every accepted message goes out")
        func acceptedGoOn() async throws {
            try await StackOnSmallDisk.use { stack, disk in
                let portal = stack.portal
                let subject = try await portal.makeSubject("Alert")
                try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                    var posts = Posts(portal: portal, subject: subject)
                    try await stack.whileFrozen("msi-fcm-emulator") {
                        try disk.fill(leaving: 12 << 20)
                        while try await posts.post().status == 201, posts.count < 5_000 {}
                        let refusal = try #require(posts.refused.last)
                        #expect(refusal.status == 507)
                        #expect(posts.accepted.count > 20)
                        #expect(try refusal.json["detail"]?.string?.contains("bytes free") == true, "\(refusal)")
                        let channel = try await portal.call(.POST, "/channel", ["name": "One more", "desc": ""])
                        #expect(channel.status == 507)
                    }
                    try await expectAccounted(posts, stack, phone, mayDouble: true)
                    // Changes that need no space are possible.
                    #expect(try await portal.call(.DELETE, "/channel/\(subject.channel)").status == 204)
                }
            }
        }

        @Test(
            "A message log that is started again on a full disk comes up by itself once there is room")
        func startOnFullDisk() async throws {
            try await StackOnSmallDisk.use { stack, disk in
                let subject = try await stack.portal.makeSubject("Information")
                try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                    var posts = Posts(portal: stack.portal, subject: subject)
                    // FCM gets them only later.
                    try await stack.whileFrozen("msi-fcm-emulator") {
                        for _ in 0..<5 { _ = try await posts.post() }
                        #expect(posts.refused.isEmpty)
                        try disk.fill()
                        try await stack.killAndReplace("msi-message-log")
                        // The existing files have room for a few.
                        var answer = try await posts.post()
                        while answer.status == 201, posts.count < 5_000 { answer = try await posts.post() }
                        #expect([503, 507].contains(answer.status), "\(answer)")
                    }
                    try disk.free()
                    try await eventually("a message is accepted again") {
                        try await posts.post().status == 201
                    }
                    try await expectAccounted(posts, stack, phone, mayDouble: true)
                }
            }
        }
    }
}

extension HarmTests.HarmedProduct {
    /// Read-only databases, and the recovery from them.
    @Suite(
        "Read-only databases",
        .enabled(if: WriteProtection.isPossible, "needs a superuser, and a file system with immutable files"))
    struct ReadOnlyTests {
        @Test(
            "Read-only databases are a 503 for writes only, and messages that FCM accepts in that state are not sent twice")
        func readOnly() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let portal = stack.portal
            let subject = try await portal.makeSubject("Alert")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                var posts = Posts(portal: portal, subject: subject)
                let processes = stack.processes
                let cube = try await portal.call(.GET, "/channel").json
                try await stack.freeze("msi-fcm-emulator")
                let accepted = try await posts.post()
                try await WriteProtection.of(databases(["message-log", "cube"], of: stack)) {
                    try stack.signal(SIGCONT, "msi-fcm-emulator")
                    _ = try await phone.events(2)
                    for answer in [
                        try await posts.post(), try await posts.post(key: "read-only"),
                        try await portal.call(.POST, "/channel", ["name": "While it is read-only", "desc": ""]),
                    ] {
                        #expect(answer.status == 503, "\(answer)")
                        #expect(answer["Content-Type"] == "application/problem+json")
                        #expect(answer["Retry-After"].flatMap { Int($0) }.map { $0 > 0 } == true)
                    }
                    #expect(try await portal.call(.GET, "/message").status == 200)
                    try await eventually("a health that says so") {
                        let health = try await portal.call(.GET, "/health")
                        let services = try health.json["services"]
                        return health.status == 503 && services?["message-log"] == "unavailable"
                            && services?["cube"] == "unavailable"
                    }
                    let key = try #require(try accepted.json["msi_key"]?.string)
                    #expect(try await portal.message(key)["relay"]?["state"] == "pending")
                }
                try await eventually("a message is accepted again") { try await posts.post(key: "read-only").status == 201 }
                #expect(stack.processes == processes)
                #expect(try await portal.call(.GET, "/channel").json == cube)
                try await expectAccounted(posts, stack, phone)
            }
        }

        @Test(
            "A message log with a read-only database does not start, names the file, and starts once it is writable")
        func startReadOnly() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Information")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                var posts = Posts(portal: stack.portal, subject: subject)
                try await stack.freeze("msi-fcm-emulator")
                for _ in 0..<3 { _ = try await posts.post() }
                let files = databases(["message-log"], of: stack)
                try await WriteProtection.of(files) {
                    try stack.signal(SIGKILL, "msi-message-log")
                    try stack.signal(SIGCONT, "msi-fcm-emulator")
                    let log = stack.stateDirectory + "/log/msi-message-log.log"
                    try await eventually("the log says why") {
                        try String(contentsOfFile: log, encoding: .utf8).contains("\(files[0]) cannot be opened")
                    }
                    let answer = try await posts.post()
                    #expect(answer.status == 503)
                    #expect(answer["Retry-After"] != nil)
                }
                try await eventually("a message is accepted again") {
                    try await posts.post().status == 201
                }
                try await expectAccounted(posts, stack, phone, mayDouble: true)
            }
        }

        /// The databases of services and their files.
        private func databases(_ names: [String], of stack: Stack) -> [String] {
            names.flatMap { name in ["", "-wal"].map { "\(stack.stateDirectory)/\(name).sqlite\($0)" } }
        }
    }
}

/// One stack on a small disk for all the tests of a suite: in the tests ``use(_:)``.
private struct StackOnSmallDisk: SuiteTrait, TestScoping {
    @TaskLocal private static var running: (stack: Stack, disk: SmallDisk)?

    /// Runs a test on a disk with free space.
    static func use(_ body: (Stack, SmallDisk) async throws -> Void) async throws {
        let (stack, disk) = try #require(running)
        try await stack.healthy()
        try await eventually("the services notice the room that an earlier test has left") {
            guard let subject = try? await stack.portal.makeSubject("Information") else { return false }
            return try await stack.portal.post(subject.message()).status == 201
        }
        // A test that has failed may have left it full.
        defer { try? disk.free() }
        try await body(stack, disk)
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await SmallDisk.with(megabytes: 40) { disk in
            try await withStack(in: disk.folder + "/state", settings: SystemTests.noLimits) { stack in
                try await Self.$running.withValue((stack, disk)) { try await function() }
            }
        }
    }
}

extension Trait where Self == StackOnSmallDisk {
    fileprivate static var stackOnSmallDisk: StackOnSmallDisk { StackOnSmallDisk() }
}

/// Waits until the accepted messages to a subject are relayed and on the phone, and checks that there are no others.
private func expectAccounted(_ posts: Posts, _ stack: Stack, _ phone: Phone, mayDouble: Bool = false) async throws {
    let accepted = Set(posts.accepted)
    // If FCM was frozen for long on a slow machine, a message may wait ten minutes for its next attempt.
    let archive = try await eventually("every message is relayed", within: .seconds(720), every: .milliseconds(250)) {
        let archive = try await stack.portal.archive(of: posts.subject)
        return archive.allSatisfy { $0.state == "relayed" } ? archive : nil
    }
    #expect(Set(archive.map(\.msiKey)) == accepted)
    let components = Set(archive.flatMap(\.components).map(\.component))
    let events = try await phone.events(components.count)
    #expect(Set(events.map(\.delivered)) == components)
    // Only if FCM's answer was lost: a process was killed, or FCM had a timeout.
    if !mayDouble { #expect(events.count == components.count) }
}

/// Messages that are posted one after another, with their answers.
private struct Posts {
    let portal: Portal
    let subject: SubjectPath
    /// The `msi_key`s of messages that were answered with 201.
    private(set) var accepted: [String] = []
    private(set) var refused: [HTTPAnswer] = []

    init(portal: Portal, subject: SubjectPath) {
        self.portal = portal
        self.subject = subject
    }

    var count: Int { accepted.count + refused.count }

    mutating func post(key: String? = nil) async throws -> HTTPAnswer {
        let answer = try await portal.post(subject.message(message: String(repeating: "long ", count: 200)), key: key)
        if answer.status == 201, let msiKey = try answer.json["msi_key"]?.string {
            accepted.append(msiKey)
        } else {
            refused.append(answer)
        }
        return answer
    }
}
