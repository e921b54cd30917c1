import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import Schemas
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    /// `msi backup`, `msi restore` and `msi outbox`.
    @Suite("Backup and restore")
    struct BackupTests {
        /// The posts of a load: which were answered, and what their titles are.
        private final class Posts: Sendable {
            /// The pause between two posts of a portal: all that they post during the backup goes to the other database, and then out, one by one.
            private static let pause = Duration.milliseconds(Level.isAll ? 0 : 50)

            private let titles = Mutex<[String: String]>([:])
            private let isOver = Mutex(false)

            var accepted: [String: String] { titles.withLock(\.self) }

            func stop() { isOver.withLock { $0 = true } }

            /// Posts until it is stopped.
            func run(_ number: Int, to portal: Portal, _ subject: SubjectPath) async throws {
                var count = 0
                while !isOver.withLock(\.self) {
                    count += 1
                    let title = "\(number)-\(count)"
                    let answer = try await portal.post(subject.message(title: title), key: title)
                    #expect(answer.status == 201, "\(answer)")
                    guard let key = try answer.json["msi_key"]?.string else { continue }
                    titles.withLock { $0[key] = title }
                    try await Task.sleep(for: Self.pause)
                }
            }
        }

        @Test(
            "A backup under load is a state that existed and has everything accepted before it; after the restore nothing goes out until it is released",
            .timeLimit(.minutes(10)),
            arguments: Level.isAll
                ? [(StoreKind.sqlite, StoreKind.sqlite), (.sqlite, .mongodb), (.mongodb, .sqlite)] : [(.sqlite, .mongodb)])
        func underLoad(_ kind: StoreKind, restoredTo target: StoreKind) async throws {
            try await withDatabases(kind, target) { first, second in
                try await withTemporaryFolder { folder in
                    let backup = folder + "/backup"
                    let (subject, original, before, waiting, scheduled) = try await withStack(
                        in: folder + "/one", settings: first
                    ) {
                        stack in
                        let subject = try await stack.portal.makeSubject("Information")
                        let posts = Posts()
                        return try await withThrowingTaskGroup(of: Void.self) { group in
                            for number in 0..<4 { group.addTask { try await posts.run(number, to: stack.portal, subject) } }
                            try await eventually("a load") { posts.accepted.count >= (Level.isAll ? 150 : 60) }
                            var later = subject.message(title: "later")
                            later["send_at"] = .integer(.nowInMilliseconds + 3_600_000)
                            let scheduled = try await stack.portal.accepted(later)
                            let (waiting, before) = try await stack.whileFrozen("msi-fcm-relay") {
                                let waiting = try await stack.portal.accepted(subject.message(title: "waiting"))
                                let count = posts.accepted.count
                                try await eventually("more messages wait") { posts.accepted.count > count + 5 }
                                let before = Set(posts.accepted.keys)
                                let made = try await msi(["backup", backup, "--json"], in: stack.stateDirectory, first)
                                #expect(made.exitCode == 0, "\(made.lines)")
                                let report = try JSONValue(parsing: Array((made.lines.last ?? "").utf8))
                                #expect(report["backup"]?.string == backup && report["manifest"]?["format"] == 1)
                                let during = posts.accepted.count
                                try await eventually("the load continues") { posts.accepted.count > during + 20 }
                                return (waiting, before)
                            }
                            if kind == .sqlite {
                                let refused = try await msi(["restore", backup], in: stack.stateDirectory, first)
                                #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("another msi is at work") })
                            }
                            posts.stop()
                            try await group.waitForAll()
                            _ = try await stack.portal.message(waiting, hasState: "relayed")
                            let original = try await Self.archive(of: stack.portal)
                            return (subject, original, before, waiting, scheduled)
                        }
                    }

                    try carryToken(from: folder + "/one", to: folder + "/two")
                    let restored = try await msi(["restore", backup, "--json"], in: folder + "/two", second)
                    #expect(restored.exitCode == 0, "\(restored.lines)")
                    let held = try #require(JSONValue(parsing: Array((restored.lines.last ?? "").utf8))["held"]?.integer)
                    #expect(held >= 2)

                    try await withStack(in: folder + "/two", settings: second) { stack in
                        let portal = stack.portal
                        let archive = try await Self.archive(of: portal)
                        for key in before { #expect(archive[key] != nil, "\(key) was accepted before the backup") }
                        for (key, message) in archive {
                            let known = try #require(original[key], "\(key) did not exist")
                            for field in ["title", "message", "timestamp", "expires", "topic_key", "sender"] {
                                #expect(message[field] == known[field])
                            }
                            let state = message["relay"]?["state"]?.string
                            #expect(state == "held" || message["relay"] == known["relay"], "\(message) was \(known)")
                        }
                        #expect(
                            archive[waiting]?["relay"]?["state"] == "held" && archive[scheduled]?["relay"]?["state"] == "held")
                        #expect(archive.count < original.count)
                        let shownHeld = archive.filter { $0.value["relay"]?["state"] == "held" }.map(\.key)
                        #expect(shownHeld.count == Int(held))

                        // What is posted now goes out, and nothing else.
                        let new = try await portal.accepted(subject.message(title: "new"))
                        _ = try await portal.message(new, hasState: "relayed")
                        #expect(try await Self.sent(by: stack) == [new])
                        #expect(try await msi(["audit", "verify"], in: stack.stateDirectory, second).exitCode == 0)
                        let next = try await msi(["backup", folder + "/next"], in: stack.stateDirectory, second)
                        #expect(next.exitCode == 0 && next.lines.contains { $0.contains("backup complete") }, "\(next.lines)")

                        let listed = try await msi(["outbox", "list", "--json"], in: stack.stateDirectory, second)
                        let keys = try listed.lines.map { try JSONValue(parsing: Array($0.utf8))["key"]?.string }
                        #expect(Set(keys) == Set(shownHeld))
                        let text = try await msi(["outbox", "list"], in: stack.stateDirectory, second).lines
                        #expect(text.first == "\(held) messages and 0 pushes are held")
                        #expect(
                            text.contains {
                                $0.hasPrefix(scheduled) && $0.contains("Hours: later") && $0.contains("scheduled for 20")
                            })
                        #expect(text.contains { $0.hasPrefix(waiting) && $0.contains("goes out at once") })
                        let plan = try await msi(
                            ["outbox", "release", "--dry-run", waiting, scheduled], in: stack.stateDirectory, second)
                        #expect(
                            plan.exitCode == 0 && plan.lines.first == "2 would be released"
                                && plan.lines.contains { $0.contains("1 at once; 1 at its time, the first at 20") },
                            "\(plan.lines)")

                        let discarding = try await msi(
                            ["outbox", "discard", "--dry-run", waiting], in: stack.stateDirectory, second)
                        #expect(
                            discarding.lines.first == "1 would be discarded"
                                && !discarding.lines.contains { $0.contains("goes out") }, "\(discarding.lines)")

                        // Discarded, it never goes out; released, it does, once.
                        let discarded = try #require(shownHeld.first { $0 != waiting && $0 != scheduled })
                        for (command, key, state) in [("discard", discarded, "recalled"), ("release", waiting, "relayed")] {
                            let done = try await msi(["outbox", command, key], in: stack.stateDirectory, second)
                            #expect(done.exitCode == 0, "\(done.lines)")
                            _ = try await portal.message(key, hasState: state)
                            let again = try await msi(["outbox", command, key], in: stack.stateDirectory, second)
                            #expect(again.exitCode == 1 && again.lines.contains { $0.contains("it is not held since a restore") })
                        }
                        let sentSoFar = try await Self.sent(by: stack)
                        #expect(Set(sentSoFar) == [new, waiting])
                        let all = try await msi(["outbox", "release", "--all"], in: stack.stateDirectory, second)
                        #expect(all.exitCode == 0 && all.lines.first == "\(held - 2) released", "\(all.lines)")
                        let rest = Set(shownHeld).subtracting([discarded, scheduled])
                        for key in rest { _ = try await portal.message(key, hasState: "relayed") }
                        let sent = try await Self.sent(by: stack)
                        #expect(Set(sent) == rest.union([new]) && sent.count == rest.count + 1)
                        _ = try await portal.message(scheduled, hasState: "pending")
                        let audited = try await eventually("the release is in the audit log") {
                            let objects = try await portal.auditedObjects("message.release")
                            return rest.union([scheduled]).isSubset(of: objects) ? objects : nil
                        }
                        // The scheduled one as well, and none twice.
                        #expect(audited.count == rest.count + 1)
                    }
                }
            }
        }

        @Test(
            """
            A restore into a folder with data keeps that data aside, and can be killed at any point; no number comes again that a phone or \
            an editor has seen since the backup
            """, .timeLimit(.minutes(10)))
        func killed() async throws {
            try await withTemporaryFolder { folder in
                let (state, backup) = (folder + "/state", folder + "/backup")
                @Sendable func broadcast(_ title: String, to portal: Portal) async throws -> Int64 {
                    let answer = try await portal.call(
                        .POST, "/broadcast",
                        ["type": 2, "expiry": 60, "actiondata": ["translations": ["en": ["title": .string(title), "msg": "m"]]]])
                    return try #require(try answer.json["id"]?.integer)
                }
                @Sendable func rename(_ channel: String, _ name: String, ifMatch tag: String?, at portal: Portal) async throws
                    -> HTTPAnswer
                {
                    try await portal.call(
                        .PUT, "/channel/\(channel)", headers: tag.map { ["If-Match": $0] } ?? [:],
                        ["name": .string(name), "desc": ""])
                }
                @Sendable func edit(_ template: String, _ title: String, ifMatch tag: String?, at portal: Portal) async throws
                    -> HTTPAnswer
                {
                    try await portal.call(
                        .PUT, "/template/\(template)", headers: tag.map { ["If-Match": $0] } ?? [:],
                        ["name": "Room moved", "title": .string(title), "desc": "d", "message": "m"])
                }
                let (message, channel, first, seen, template, seenTemplate) = try await withStack(in: state) { stack in
                    let portal = stack.portal
                    let subject = try await portal.makeSubject("Information")
                    let message = try await portal.accepted(subject.message(title: "before"))
                    _ = try await portal.message(message, hasState: "relayed")
                    let added = try await portal.call(
                        .POST, "/template", ["name": "Room moved", "title": "t", "desc": "d", "message": "m"])
                    let template = try #require(try added.json["id"]?.string ?? added.json["_id"]?.string, "\(added)")
                    let made = try await portal.call(.POST, "/channel", ["name": "One", "desc": ""])
                    let channel = try #require(try made.json["_id"]?.string)
                    let first = try await broadcast("before", to: portal)
                    let done = try await msi(["backup", backup], in: state)
                    #expect(
                        done.exitCode == 0 && done.lines.contains { $0.contains("backup complete") && $0.contains("1 messages") },
                        "\(done)")
                    _ = try await portal.accepted(subject.message(title: "after the backup"))
                    let second = try await broadcast("after", to: portal)
                    #expect(second == first + 1)
                    let renamed = try await rename(channel, "Renamed after the backup", ifMatch: nil, at: portal)
                    let edited = try await edit(template, "after the backup", ifMatch: nil, at: portal)
                    return (message, channel, first, try #require(renamed["ETag"]), template, try #require(edited["ETag"]))
                }
                let refused = try await msi(["restore", backup], in: state)
                #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("--replace") }, "\(refused.lines)")

                var wasKilled = 0
                for round in 0..<(Level.isAll ? 15 : 8) {
                    let end = try await withProgram(
                        "msi", arguments: ["restore", backup, "--replace"], environment: ["MSI_STATE_DIR": state]
                    ) { program in
                        let deadline = ContinuousClock.now + .milliseconds((Level.isAll ? 7 : 14) * round)
                        try await eventually("the moment of the kill") { ContinuousClock.now > deadline || !program.isRunning }
                        program.signal(SIGKILL)
                    }
                    if end.exitCode != 0 { wasKilled += 1 }
                    // A service refuses to start between the old state and the new one.
                    guard FileManager.default.fileExists(atPath: state + "/restore.ready") else { continue }
                    let up = try await runProgram("msi-cube", environment: ["MSI_STATE_DIR": state])
                    #expect(up.exitCode == 1 && up.lines.contains { $0.contains("msi restore was interrupted") }, "\(up.lines)")
                }
                #expect(wasKilled > 0)
                // What a kill at the very end leaves.
                try FileManager.default.createDirectory(atPath: state + "/restore.done/left", withIntermediateDirectories: true)
                let done = try await msi(["restore", backup, "--replace"], in: state)
                #expect(done.exitCode == 0 && !done.lines.contains { $0.contains("damaged") }, "\(done.lines)")
                let names = try FileManager.default.contentsOfDirectory(atPath: state)
                #expect(!names.contains { $0.hasPrefix("restore.") })
                // The first replaced data is the one with the later message.
                let aside = try #require(names.filter { $0.hasPrefix("replaced-") }.min())
                let kept = try ["", "-wal"].map { "\(state)/\(aside)/message-log.sqlite" + $0 }
                    .filter { FileManager.default.fileExists(atPath: $0) }.map { try Data(contentsOf: URL(filePath: $0)) }
                #expect(kept.contains { $0.contains("after the backup".utf8) })
                // Another one within the same second keeps its data elsewhere.
                for _ in 0..<2 { #expect(try await msi(["restore", backup, "--replace"], in: state).exitCode == 0) }
                let all = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("replaced-") }
                #expect(all.count == names.count { $0.hasPrefix("replaced-") } + 2)
                try await withStack(in: state) { stack in
                    let portal = stack.portal
                    try await stack.healthy()
                    #expect(try await Set(Self.archive(of: portal).keys) == [message])
                    let kept = try await portal.call(.GET, "/broadcast/\(first)").json
                    #expect(kept["version"]?.integer ?? 0 > 1_000_000, "\(kept)")
                    #expect(try await broadcast("new", to: portal) > first + 1_000_000)
                    #expect(try await rename(channel, "Ann's", ifMatch: seen, at: portal).status == 412)
                    let renamed = try await rename(channel, "Bob's", ifMatch: nil, at: portal)
                    #expect(renamed.status == 200 && renamed["ETag"] != seen, "\(renamed)")
                    let current = try await portal.call(.GET, "/template/\(template)")
                    #expect(try current.json["title"] == "t" && current["ETag"] != seenTemplate)
                    // Once edited, it would have the number that an editor has seen.
                    #expect(try await edit(template, "Ann's", ifMatch: nil, at: portal)["ETag"] != seenTemplate)
                    #expect(try await edit(template, "Bob's", ifMatch: seenTemplate, at: portal).status == 412)
                }
            }
        }

        @Test(
            "While a restore to MongoDB is interrupted, services of other machines wait, and the next one finishes it",
            .timeLimit(.minutes(10)), .atLength)
        func killedInMongoDB() async throws {
            try await withTemporaryFolder { folder in
                let (state, backup, other) = (folder + "/state", folder + "/backup", folder + "/other")
                let old = try await Self.makeBackup(in: folder + "/source", at: backup)
                try await withMongoServer { server in
                    let settings = ["MSI_DATABASE_URL": server.url(database: "campus")]
                    let backUp = { try await msi(["backup", folder + "/\(ObjectID())"], in: other, settings) }
                    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
                    // Later and later, until the database has the mark.
                    var round = 0
                    repeat {
                        let delay = Duration.milliseconds(250 * round)
                        round += 1
                        let end = try await withProgram(
                            "msi", arguments: ["restore", backup], environment: settings.merging(["MSI_STATE_DIR": state]) { $1 }
                        ) { program in
                            try await eventually("the data is ready", every: .milliseconds(1)) {
                                FileManager.default.fileExists(atPath: state + "/restore.ready") || !program.isRunning
                            }
                            let kill = ContinuousClock.now + delay
                            try await eventually("the moment of the kill", every: .milliseconds(1)) {
                                ContinuousClock.now > kill || !program.isRunning
                            }
                            program.signal(SIGKILL)
                        }
                        try #require(end.status == 128 + SIGKILL, "it ended before it was killed: \(end.lines)")
                    } while try await !backUp().lines.contains { $0.contains("msi restore has not ended") }
                    try FileManager.default.copyItem(atPath: state + "/restore.ready", toPath: folder + "/left")

                    let cube = try await withProgram(
                        "msi-cube", environment: settings.merging(["MSI_STATE_DIR": other]) { $1 }
                    ) { cube in
                        let away = try await cube.line { $0.contains("the database is away") }
                        #expect(away.contains("msi restore is filling this database, or was interrupted"))
                        let done = try await msi(["restore", backup], in: state, settings)
                        #expect(done.exitCode == 0, "\(done.lines)")
                        _ = try await cube.line { $0.contains("the database is back") }
                    }
                    #expect(cube.exitCode == 0, "\(cube.lines)")
                    #expect(try await backUp().exitCode == 0)
                    try carryToken(from: folder + "/source", to: folder + "/new")
                    try await withStack(in: folder + "/new", settings: settings) { stack in
                        let archive = try await Self.archive(of: stack.portal)
                        #expect(Set(archive.keys) == [old.message])
                        _ = try await stack.portal.accepted(old.subject.message(title: "after the restore"))
                    }

                    // It was killed after all was in place: services have used the data since.
                    try FileManager.default.copyItem(atPath: folder + "/left", toPath: state + "/restore.ready")
                    try Data().write(to: URL(filePath: state + "/restore.ready/complete"))
                    let again = try await msi(["restore", backup], in: state, settings)
                    #expect(again.exitCode == 0, "\(again.lines)")
                    #expect(!FileManager.default.fileExists(atPath: state + "/restore.ready"))
                    try await withStack(in: folder + "/new", settings: settings) { stack in
                        let archive = try await Self.archive(of: stack.portal)
                        #expect(archive.count == 2 && archive[old.message] != nil)
                    }
                }
            }
        }

        // MARK: Helpers

        /// The settings of the product that is backed up, and of the one that the backup is restored to.
        private func withDatabases(
            _ kind: StoreKind, _ target: StoreKind, _ body: @Sendable ([String: String], [String: String]) async throws -> Void
        ) async throws {
            guard [kind, target].contains(.mongodb) else { return try await body([:], [:]) }
            try await withMongoServer { server in
                let settings = ["MSI_DATABASE_URL": server.url(database: "campus")]
                try await body(kind == .mongodb ? settings : [:], target == .mongodb ? settings : [:])
            }
        }

        /// Makes a backup with one message that FCM has accepted.
        private static func makeBackup(in state: String, at backup: String) async throws -> (
            subject: SubjectPath, message: String
        ) {
            try await withStack(in: state) { stack in
                let subject = try await stack.portal.makeSubject("Information")
                let message = try await stack.portal.accepted(subject.message(title: "before"))
                _ = try await stack.portal.message(message, hasState: "relayed")
                let made = try await msi(["backup", backup], in: state)
                #expect(
                    made.exitCode == 0 && made.lines.contains { $0.contains("backup complete") && $0.contains("1 messages") },
                    "\(made)")
                return (subject, message)
            }
        }

        /// All messages by their keys.
        private static func archive(of portal: Portal) async throws -> [String: JSONValue] {
            let messages = try await portal.all("messages", at: "/message?limit=200")
            return Dictionary(messages.map { ($0["msi_key"]?.string ?? "", $0) }) { $1 }
        }

        /// The keys of all messages that FCM has accepted from a stack, one for each send.
        private static func sent(by stack: Stack) async throws -> [String] {
            try await stack.fcm.acceptedSends().compactMap { $0["body"]?["message"]?["data"]?["msi_key"]?.string }
        }
    }
}

extension SystemTests.OneProduct {
    /// Backups of the running product, and what `msi restore` refuses.
    @Suite("Backups")
    struct BackupFileTests {
        private let state: String

        init() throws {
            state = try SharedStack.current.stateDirectory
        }

        @Test("An incomplete backup, or one of another version, is refused, and nothing changes")
        func refusals() async throws {
            try await withTemporaryFolder { folder in
                let (backup, new) = (folder + "/backup", folder + "/new")
                #expect(try await msi(["backup", backup], in: state).exitCode == 0)
                func expectRefused(_ arguments: [String], in state: String, _ reason: String) async throws {
                    let end = try await msi(arguments, in: state)
                    #expect(end.exitCode == 1 && end.lines.contains { $0.contains(reason) }, "\(end.lines)")
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: backup)
                for name in names {
                    var status = stat()
                    #expect(stat("\(backup)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
                }
                #expect(!names.contains("token") && !names.contains { $0.hasSuffix("-wal") })
                try await expectRefused(["backup", backup], in: state, "exists already")
                try await expectRefused(["backup", folder + "/other"], in: folder + "/nowhere", "there is no")
                try await expectRefused(
                    ["backup", folder + "/disk/2026"], in: state, "\(folder)/disk does not exist; is its disk mounted?")
                #expect(!FileManager.default.fileExists(atPath: folder + "/disk"))
                try await expectRefused(["backup", state + "/log/2026"], in: state, "is inside the state directory \(state)")
                #expect(symlink(backup, folder + "/link") == 0)
                try await expectRefused(["backup", folder + "/link/2026"], in: state, "is inside the backup")
                #expect(try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == names.sorted())
                try await expectRefused(["restore", folder], in: new, "is no backup")
                #expect(symlink(folder, folder + "/linked.incomplete") == 0)
                try await expectRefused(["backup", folder + "/linked"], in: state, "is a link")

                let manifest = try String(contentsOfFile: backup + "/manifest.json", encoding: .utf8)
                for (change, to, reason) in [
                    (#/"product":"[^"]*"/#, #""product":"99.1.0""#, "written by version 99.1.0"),
                    (#/"format":1/#, #""format":2"#, "which may not know"),
                    (#/people\.sqlite/#, "../people", "outside the backup"),
                    (#/"files"/#, #""fils""#, "is damaged"),
                ] {
                    try manifest.replacing(change, with: to).write(
                        toFile: backup + "/manifest.json", atomically: true, encoding: .utf8)
                    try await expectRefused(["restore", backup], in: new, reason)
                }
                try manifest.write(toFile: backup + "/manifest.json", atomically: true, encoding: .utf8)

                let file = URL(filePath: backup + "/message-log.sqlite")
                let whole = try Data(contentsOf: file)
                var damaged = whole
                damaged[whole.count / 2] ^= 1
                for contents in [damaged, whole.dropLast(1)] {
                    try contents.write(to: file)
                    try await expectRefused(["restore", backup], in: new, "message-log.sqlite is damaged")
                }
                try FileManager.default.removeItem(at: file)
                try await expectRefused(["restore", backup], in: new, "message-log.sqlite cannot be read: No such file")
                try whole.write(to: file)
                let left = try FileManager.default.contentsOfDirectory(atPath: new)
                #expect(left.allSatisfy { $0.hasSuffix(".lock") }, "\(left)")

                let replaced = try await msi(
                    ["restore", backup, "--replace"], in: new, ["MSI_DATABASE_URL": "mongodb://127.0.0.1:1/x"])
                #expect(replaced.exitCode == 78 && replaced.lines.contains { $0.contains("empty database") })
                #expect(try await msi(["restore", backup], in: new).exitCode == 0)
            }
        }

        @Test("On a full disk there is an error, and no half backup or half restore", .enabled(if: SmallDisk.isPossible))
        func fullDisk() async throws {
            try await withTemporaryFolder { folder in
                let backup = folder + "/backup"
                #expect(try await msi(["backup", backup], in: state).exitCode == 0)
                try await SmallDisk.with(megabytes: 4) { disk in
                    try disk.fill(leaving: 200_000)
                    for arguments in [["backup", disk.folder + "/backup"], ["restore", backup]] {
                        let place = arguments[0] == "backup" ? state : disk.folder + "/state"
                        let end = try await msi(arguments, in: place)
                        let reasons = ["the disk is full", "No space left on device"]
                        #expect(
                            end.exitCode == 1 && end.lines.contains { line in reasons.contains(where: line.contains) },
                            "\(end.lines)")
                    }
                    let left = try FileManager.default.contentsOfDirectory(atPath: disk.folder)
                    #expect(!left.contains { $0.hasPrefix("backup") }, "\(left)")
                    let restored = try FileManager.default.contentsOfDirectory(atPath: disk.folder + "/state")
                    #expect(restored.allSatisfy { $0.hasSuffix(".lock") }, "\(restored)")
                }
            }
        }
    }
}
