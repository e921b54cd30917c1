import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi up`: start, stop, and their errors.
    @Suite("msi up")
    struct UpTests {
        @Test(
            """
            deploy/run starts everything, and builds nothing if nothing has changed. Messages, the cube, accounts and a phone's subscription \
            are still there after a restart; Ctrl-C has stopped the services one after another in reverse order
            """)
        func restart() async throws {
            try await withTemporaryFolder { folder in
                let state = folder + "/state"
                // `swift test` locks the build folder until its tests have ended. The lock is a file in the temporary folder.
                // With another temporary folder the script's build does not wait for it. All files are built already.
                let settings = ["TMPDIR": folder, "BUILD_CONFIGURATION": ServiceProcess.executables.lastPathComponent]
                let build = try await withProgram(
                    BuiltProduct.packageFolder() + "deploy/build", environment: settings
                ) { try await $0.end(within: .seconds(600)) }
                #expect(build.exitCode == 0, "\(build.lines)")
                let script = try BuiltProduct.packageFolder() + "deploy/run"
                let (phone, subject, cube, messages, password, token) = try await withStack(
                    in: state, settings: settings, script: script
                ) { stack in
                    // A build would say so first.
                    #expect(stack.program.lines.first?.hasPrefix("first start") == true, "\(stack.program.lines)")
                    let identity = try #require(stack.identity, "\(stack.program.lines)")
                    #expect(try await identity.call(.GET, "/").status == 200)
                    let (password, token) = try await FirstStartFiles(of: stack).expectInPlace()
                    let subject = try await stack.portal.makeSubject("Alert")
                    return try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                        let key = try await stack.portal.accepted(subject.message(), key: "before")
                        _ = try await stack.portal.message(key, hasState: "relayed")
                        _ = try await phone.events(2)
                        let cube = try await stack.portal.call(.GET, "/channel").json
                        let messages = try await stack.portal.call(.GET, "/message").json
                        return (phone, subject, cube, messages, password, token)
                    }
                }
                try expectStopInOrder(state)
                try await withStack(in: state) { stack in
                    try await FirstStartFiles(of: stack).expectKept(password, token)
                    #expect(try await stack.portal.call(.GET, "/channel").json == cube)
                    #expect(try await stack.portal.call(.GET, "/message").json == messages)
                    let replayed = try await stack.portal.post(subject.message(), key: "before")
                    #expect(replayed["Idempotency-Replayed"] == "true")
                    try await stack.withPhone(phone) { phone in
                        let key = try await stack.portal.accepted(subject.message(title: "After"))
                        let events = try await phone.events(2) { $0.msiKey == key }
                        let data = try #require(events.first { $0.component == "data" })
                        #expect(data.json["data"]?["title"] == "After")
                    }
                }
            }
        }

        /// Each service logs the beginning and the end of its stop. ISO 8601 in UTC sorts as text.
        private func expectStopInOrder(_ folder: String) throws {
            let moments = try Stack.services.reversed().flatMap { service in
                let lines = try String(contentsOfFile: "\(folder)/log/\(service).log", encoding: .utf8).split(separator: "\n")
                return try ["stopping", "stopped"].map { message in
                    let line = try #require(lines.last { $0.contains("\"message\":\"\(message)\"") }, "\(service)")
                    return String(try #require(line.firstMatch(of: /"time":"([^"]+)"/)).1)
                }
            }
            #expect(moments == moments.sorted())
        }

        @Test(
            """
            After a kill of msi up its services end too; a start before that waits for them, continues with the same state, and does without \
            a phone that cannot start
            """)
        func killed() async throws {
            try await withTemporaryFolder { folder in
                _ = try await withUp(in: folder) { program in
                    let services = program.children.map(\.id)
                    #expect(services.count == Stack.services.count)
                    let token = try String(contentsOfFile: folder + "/token", encoding: .utf8)
                    // The other end of the services' standard input: they stop when this is closed.
                    let lifeline = open("/proc/\(try #require(services.first))/fd/0", O_WRONLY | O_CLOEXEC)
                    #expect(lifeline >= 0)
                    program.signal(SIGKILL)
                    try await program.end()
                    // The phone still runs, and writes its files.
                    try FileManager.default.moveItem(atPath: folder + "/phones", toPath: folder + "/phones-before")
                    try Data().write(to: URL(filePath: folder + "/phones"))
                    let next = try await withNext(in: folder) { next in
                        let line = try await next.line { $0.contains("waiting for the services") }
                        for service in Stack.services { #expect(line.contains(service), "\(line)") }
                        #expect(services.allSatisfy(ProcessTable.isRunning))
                        close(lifeline)
                        _ = try await next.line(within: .seconds(300)) { $0.contains("  stop ") }
                        #expect(!services.contains(where: ProcessTable.isRunning))
                        #expect(next.lines.contains { $0.contains("msi-phone did not start") }, "\(next.lines)")
                        #expect(try String(contentsOfFile: folder + "/token", encoding: .utf8) == token)
                        let successors = next.children.map(\.id)
                        #expect(successors.count == Stack.services.count - 1)
                        next.signal(SIGKILL)
                        try await eventually("the children of a killed msi up end") {
                            !successors.contains(where: ProcessTable.isRunning)
                        }
                    }
                    #expect(next.exitCode == nil)
                }
            }
        }

        private func withNext(
            in folder: String, _ body: @Sendable (RunningProgram) async throws -> Void
        ) async throws -> ProgramEnd<Void> {
            StackCount.started("msi up")
            return try await withProgram("msi", arguments: ["up"], environment: upSettings(in: folder), body)
        }

        @Test(
            "A wrong setting ends msi up at once, with an error that names the setting",
            arguments: [
                (["MSI_GATEWAY_PROT": "1"], "MSI_GATEWAY_PROT"), (["MSI_MESSAGE_TTL": "-1"], "MSI_MESSAGE_TTL"),
                (["MSI_CONFIG_FILE": "/nowhere/msi.conf"], "/nowhere/msi.conf"),
                (["MSI_STATE_DIR": "/dev/null/msi"], "/dev/null/msi"),
            ])
        func wrongSetting(settings: [String: String], name: String) async throws {
            try await withTemporaryFolder { folder in
                let end = try await withFailingUp(in: folder, settings: settings)
                #expect(end.exitCode.map { $0 != 0 } == true)
                #expect(end.lines.contains { $0.contains(name) }, "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("ready") })
            }
        }

        @Test("Ctrl-C during the start stops everything")
        func interruptedStart() async throws {
            try await withTemporaryFolder { folder in
                let end = try await withProgram(
                    "msi", arguments: ["up"], environment: upSettings(in: folder)
                ) { program in
                    try await eventually("the first child") { !program.children.isEmpty }
                    let children = program.children.map(\.id)
                    program.signal(SIGINT)
                    try await program.end()
                    return children
                }
                #expect(end.exitCode == 0)
                #expect(!end.value.contains(where: ProcessTable.isRunning))
            }
        }
    }
}

extension SystemTests.OneProduct {
    /// A running product that another program starts beside.
    @Suite("msi up beside others")
    struct NeighbourTests {
        @Test("A port that is taken ends msi up, with an error that says so")
        func portTaken() async throws {
            let stack = try SharedStack.current
            try await withTemporaryFolder { folder in
                let end = try await withFailingUp(in: folder, settings: ["MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)"])
                #expect(end.exitCode == 1)
                #expect(
                    end.lines.contains {
                        $0.contains("port \(stack.fcm.port) is in use") && $0.contains("MSI_FCM_EMULATOR_PORT")
                    },
                    "\(end.lines)")
            }
            #expect(try await stack.portal.call(.GET, "/health").status == 200)
        }

        @Test("A second phone of the same name is refused; one of another name is not")
        func twoPhones() async throws {
            let stack = try SharedStack.current
            let refused = try await runProgram("msi-phone", environment: stack.environment)
            #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("runs already") }, "\(refused.lines)")
            let other = try await withProgram("msi-phone", arguments: ["--name", "ann"], environment: stack.environment) {
                _ = try await $0.line { $0.contains("\"ready\"") }
            }
            #expect(other.exitCode == 0, "\(other.lines)")
        }

        @Test("GET /health has the version of each service, which is the one that its program prints")
        func versions() async throws {
            var versions: Set<String> = []
            for service in ServiceEntry.all { versions.insert(try await version(of: service.executable)) }
            for program in ["msi", "msi-load"] { versions.insert(try await version(of: program)) }
            let version = try #require(versions.first)
            #expect(versions.count == 1, "\(versions)")
            let stack = try SharedStack.current
            let health: JSONValue = try await eventually("a health that is well") {
                let health = try await stack.portal.call(.GET, "/health").json
                return health["status"] == "ok" ? health : nil
            }
            let services = ServiceEntry.gateway.startDependencies + [.study, .gateway]
            #expect(health["versions"]?.names == services.map(\.name).sorted())
            for service in services { #expect(health["versions"]?[service.name]?.string == version) }
            #expect(health["parts"]?["message-log"]?["relay"]?["version"]?.string == version)
        }

        /// The version that a program prints for `--version`, after its own name.
        private func version(of program: String) async throws -> String {
            let end = try await runProgram(program, ["--version"])
            #expect(end.exitCode == 0 && end.lines.count == 1, "\(end.lines)")
            let words = try #require(end.lines.first).split(separator: " ")
            #expect(words.count == 2 && words[0] == program, "\(end.lines)")
            return String(words.last ?? "")
        }
    }
}

extension SystemTests.OneProduct.SecondProduct {
    /// Two products on one machine.
    @Suite("A second msi up")
    struct SecondUpTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        @Test("Two stacks run side by side without affecting each other")
        func sideBySide() async throws {
            let first = try SharedStack.outer
            #expect(first.portal.port != stack.portal.port)
            let subject = try await first.portal.makeSubject("Information")
            let key = try await first.portal.accepted(subject.message())
            #expect(try await stack.portal.post(subject.message()).status == 400)
            #expect(try await stack.portal.call(.GET, "/message/\(key)").status == 404)
            #expect(try await stack.portal.call(.GET, "/channel").json.array.allSatisfy { $0["_id"]?.string != subject.channel })
        }

        @Test("A phone runs beside the hub, at the address that is said, even if its usual port is taken")
        func phone() async throws {
            let (first, second) = (try SharedStack.outer, stack)
            let (port, other) = (try #require(first.phonePort), try #require(second.phonePort))
            #expect(other != port)
            for (stack, port) in [(first, port), (second, other)] {
                let phone = Portal(port: port, http: stack.portal.http, token: nil)
                #expect(try await phone.call(.GET, "/").status == 200)
                #expect(try await phone.call(.GET, "/control").json["killed"] == false)
                // A restarted phone has the same address.
                try await stack.killAndReplace("msi-phone")
                try await eventually("the phone's page") { (try? await phone.call(.GET, "/").status) == 200 }
            }
        }

        @Test("Each has its own identity emulator, at the address that is said, to which the app is led")
        func identityEmulators() async throws {
            let emulators = [try #require(try SharedStack.outer.identity), try #require(stack.identity)]
            #expect(emulators[0].url != emulators[1].url)
            for (stack, emulator) in zip([try SharedStack.outer, stack], emulators) {
                let offered = try await stack.portal.with(token: nil).call(.GET, "/user/providers").json["providers"]
                for provider in ["google", "firebase", "facebook"] {
                    let offer = offered?.elements?.first { $0["provider"]?.string == provider }
                    let url = offer?["url"]?.string ?? ""
                    #expect(url.hasPrefix("\(emulator.url)/\(provider)/"), "\(provider): \(offered ?? [])")
                }
                let password = offered?.elements?.first { $0["provider"] == "password" }
                #expect(password?["registers"] == true && password?["needs_code"] == false)
            }
        }

        @Test("A service that is told to listen elsewhere is found there, even at a port of the system's choice")
        func movedServices() async throws {
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Information")
            let key = try await stack.portal.accepted(subject.message())
            _ = try await stack.portal.message(key, hasState: "relayed")
            let sockets = try? FileManager.default.contentsOfDirectory(atPath: stack.stateDirectory + "/run")
            #expect(sockets ?? [] == [])
        }

        @Test("A first start that was interrupted after it had written the token uses this token")
        func interruptedStart() async throws {
            _ = try stack.firstPassword
            let token = try String(contentsOfFile: stack.stateDirectory + ".token", encoding: .utf8).filter { !$0.isWhitespace }
            let session = try await stack.portal.with(token: token).call(.GET, "/session")
            #expect(session.status == 200, "\(session)")
        }
    }
}
