import FoundationEssentials
import Glibc
import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// Full and read-only disks, and the recovery from them.
    @Suite("Storage", .serialized)
    struct StorageTests {
        private static let mayMount: Comment = "needs a superuser who may mount a small disk"
        private static let mayProtect: Comment = "needs a superuser, and a file system with immutable files"

        @Test(
            "A full disk is a 507; nothing accepted is lost, nothing refused is stored, and all goes on once there is room",
            .enabled(if: SmallDisk.isPossible, mayMount))
        func fullDisk() async throws {
            try await SmallDisk.with(megabytes: 24) { disk in
                try await withStack(in: disk.folder + "/state") { stack in
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
                        #expect(try await portal.call(.GET, "/message").status == 200)
                        #expect(try await portal.call(.GET, "/channel").status == 200)

                        try disk.free()
                        try await eventually("a message is accepted again") { try await posts.post().status == 201 }
                        #expect(stack.processes == processes)
                        try await expectAccounted(posts, stack, phone)
                    }
                }
            }
        }

        @Test(
            "When the disk fills up, new messages and channels are refused early, and every accepted message goes out",
            .enabled(if: SmallDisk.isPossible, mayMount))
        func acceptedGoOn() async throws {
            try await SmallDisk.with(megabytes: 32) { disk in
                try await withStack(in: disk.folder + "/state") { stack in
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
        }

        @Test(
            "A message log that is started again on a full disk comes up by itself once there is room",
            .enabled(if: SmallDisk.isPossible, mayMount))
        func startOnFullDisk() async throws {
            try await SmallDisk.with(megabytes: 24) { disk in
                try await withStack(in: disk.folder + "/state") { stack in
                    let subject = try await stack.portal.makeSubject("Information")
                    try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                        var posts = Posts(portal: stack.portal, subject: subject)
                        // FCM gets them only later.
                        try await stack.whileFrozen("msi-fcm-emulator") {
                            for _ in 0..<5 { _ = try await posts.post() }
                            #expect(posts.refused.isEmpty)
                            try stack.signal(SIGKILL, "msi-message-log")
                            try disk.fill()
                            let answer = try await posts.post()
                            #expect([503, 507].contains(answer.status), "\(answer)")
                        }
                        try disk.free()
                        try await eventually("a message is accepted again", within: .seconds(40)) {
                            try await posts.post().status == 201
                        }
                        try await expectAccounted(posts, stack, phone, mayDouble: true)
                    }
                }
            }
        }

        @Test(
            "Read-only databases are a 503 for writes only, and messages that FCM accepts meanwhile are not sent twice",
            .enabled(if: WriteProtection.isPossible, mayProtect))
        func readOnly() async throws {
            try await withStack { stack in
                let portal = stack.portal
                let subject = try await portal.makeSubject("Alert")
                try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                    var posts = Posts(portal: portal, subject: subject)
                    let processes = stack.processes
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
                        let key = try #require(try accepted.json["msi_key"]?.string)
                        #expect(try await portal.message(key)["relay"]?["state"] == "pending")
                    }
                    try await eventually("a message is accepted again") { try await posts.post(key: "read-only").status == 201 }
                    #expect(stack.processes == processes)
                    #expect(try await portal.call(.GET, "/channel").json.array.count == 1)
                    try await expectAccounted(posts, stack, phone)
                }
            }
        }

        @Test(
            "A message log with a read-only database does not start, names the file, and starts once it is writable",
            .enabled(if: WriteProtection.isPossible, mayProtect))
        func startReadOnly() async throws {
            try await withStack { stack in
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
                    try await eventually("a message is accepted again", within: .seconds(40)) {
                        try await posts.post().status == 201
                    }
                    try await expectAccounted(posts, stack, phone, mayDouble: true)
                }
            }
        }

        /// The databases of services and their files.
        private func databases(_ names: [String], of stack: Stack) -> [String] {
            names.flatMap { name in ["", "-wal"].map { "\(stack.stateDirectory)/\(name).sqlite\($0)" } }
        }

        /// Waits until the accepted messages are relayed and on the phone, and checks that there are no others.
        private func expectAccounted(_ posts: Posts, _ stack: Stack, _ phone: Phone, mayDouble: Bool = false) async throws {
            let accepted = Set(posts.accepted)
            let archive = try await eventually("every message is relayed", within: .seconds(60), every: .milliseconds(250)) {
                let archive = try await stack.portal.archive()
                return archive.allSatisfy { $0.state == "relayed" } ? archive : nil
            }
            #expect(Set(archive.map(\.msiKey)) == accepted)
            let components = Set(archive.flatMap(\.components).map(\.component))
            let events = try await phone.events(components.count)
            #expect(Set(events.map(\.delivered)) == components)
            // Only if FCM's answer was lost: a process was killed, or FCM had a timeout.
            if !mayDouble { #expect(events.count == components.count) }
        }
    }
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
